// The current folder, folders that are opened, lines of any length, copies of files in memory,
// limits and users. With an argument the files are below it: `/srv/files` is a server.
// FILE: words=one\ntwo words\n
// NEEDS: memory above 2 MiB
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static void check(const char *what, int is_so) {
  if (!is_so)
    printf("wrong: %s (%s)\n", what, strerror(errno));
}

static void write_file(const char *name, const char *text) {
  FILE *file = fopen(name, "w");
  check(name, file && fputs(text, file) >= 0 && !fclose(file));
}

static int has_file(const char *name) { return access(name, F_OK) == 0; }

static void folders(const char *top) {
  char here[256], small[4];
  check("the first folder", chdir(top) == 0 && !strcmp(getcwd(here, sizeof here), top));
  check("made folders", !mkdir("one", 0755) && !mkdir("one/two", 0755));
  check("a folder by its name", !chdir("one"));
  check("and one in it", !chdir("./two/"));
  write_file("inner", "inner\n");
  write_file("../outer", "outer\n");
  check("names by ..", has_file("../two/inner") && has_file("../../one/outer"));
  check("no folder", chdir("inner") && errno == ENOTDIR);
  check("no name", chdir("none") && errno == ENOENT);
  check("an empty name", chdir("") && errno == ENOENT);
  check("no room", !getcwd(small, sizeof small) && errno == ERANGE);
  char *whole = getcwd(NULL, 0);
  check("room that is made", whole && strlen(whole) > 7);
  printf("%s\n", whole + strlen(top) - (strlen(top) == 1));
  free(whole);
  check("a rename", !rename("inner", "../moved") && has_file("../moved"));
  check("up, and the root", !chdir("../..") && has_file("one/moved"));
  check("above the root", !chdir("/") && !chdir("../..") && !strcmp(getcwd(here, 9), "/"));
  check("back", !chdir(top));
  char deep[2048] = "";
  while (strlen(deep) < 1500)
    strcat(deep, "one/../");
  check("a long name", access(deep, F_OK) && errno == ENAMETOOLONG);
}

// They can be named, and synced.
static void opened_folders(void) {
  struct stat about;
  char byte;
  int file = open("one", O_RDONLY);
  check("an open folder", file >= 0 && !fstat(file, &about) && S_ISDIR(about.st_mode));
  check("is synced", !fsync(file));
  check("is not read", read(file, &byte, 1) == -1 && errno == EISDIR);
  check("is closed", !close(file) && fstat(file, &about) && errno == EBADF);
  check("is not written", open("one", O_RDWR) == -1 && errno == EISDIR);
  check("is not made", open("one", O_RDONLY | O_CREAT, 0644) == -1 && errno == EISDIR);
}

static void lines(void) {
  FILE *file = fopen("long", "w");
  for (int n = 0; n < 1000; n++)
    fputc('a' + n % 26, file);
  fputs("\nshort\nlast", file);
  fclose(file);
  file = fopen("long", "r");
  char *line = NULL;
  size_t size = 0;
  ssize_t length;
  while ((length = getline(&line, &size, file)) >= 0)
    printf("%zd bytes, the last one is %d\n", length, line[length - 1]);
  check("the end", feof(file));
  rewind(file);
  check("another end", getdelim(&line, &size, 'c', file) == 3 && !strcmp(line, "abc"));
  check("no place", getline(NULL, &size, file) == -1 && errno == EINVAL);
  check("a byte", getc_unlocked(file) == 'd');
  free(line);
  fclose(file);
}

static void mappings(void) {
  int file = open("long", O_RDONLY);
  char *copy = mmap(NULL, 5000, PROT_READ, MAP_PRIVATE, file, 0);
  check("a copy", copy != MAP_FAILED && !memcmp(copy + 1000, "\nshort", 6) && copy[4999] == 0);
  check("is unmapped", !munmap(copy, 5000));
  char *pages = mmap(NULL, 100000, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  check("pages", pages != MAP_FAILED && pages[99999] == 0);
  pages[99999] = 1;
  check("sync", !msync(pages, 100000, MS_SYNC) && !munmap(pages, 100000));
  check("a shared one",
        mmap(NULL, 1, PROT_WRITE, MAP_SHARED, file, 0) == MAP_FAILED && errno == ENODEV);
  check("a place", mmap(pages, 1, PROT_READ, MAP_PRIVATE | MAP_FIXED, file, 0) == MAP_FAILED &&
                       errno == EINVAL);
  check("no bytes",
        mmap(NULL, 0, PROT_READ, MAP_PRIVATE, file, 0) == MAP_FAILED && errno == EINVAL);
  check("an offset",
        mmap(NULL, 1, PROT_READ, MAP_PRIVATE, file, 8) == MAP_FAILED && errno == EINVAL);
  check("too much",
        mmap(NULL, 1ul << 40, PROT_READ, MAP_PRIVATE, file, 0) == MAP_FAILED && errno == ENOMEM);
  check("no file", mmap(NULL, 1, PROT_READ, MAP_PRIVATE, 60, 0) == MAP_FAILED && errno == EBADF);
  check("no page", munmap((char *)1, 1) && errno == EINVAL);
  close(file);
}

static void others(void) {
  struct rlimit limit;
  check("a limit", !getrlimit(RLIMIT_NOFILE, &limit) && limit.rlim_cur == 64);
  check("which stays", !setrlimit(RLIMIT_NOFILE, &limit) && --limit.rlim_cur &&
                           setrlimit(RLIMIT_NOFILE, &limit) && errno == EPERM);
  check("no call of a file", ioctl(1, TIOCGWINSZ, NULL) == -1 && errno == ENOTTY);
  check("nor of none", ioctl(50, TIOCGWINSZ, NULL) == -1 && errno == EBADF);
  check("a user", getuid() == 0 && !strcmp(getpwuid(0)->pw_name, "root") && !getpwnam("nobody"));
  check("an owner", !chown("long", 1, 1) && chown("none", 0, 0) && errno == ENOENT);
  check("no link by name", symlink("long", "link") && errno == EPERM);
  char name[8];
  check("nor one to read", readlink("long", name, sizeof name) == -1 && errno == EINVAL);
  check("files go", !unlink("long") && !unlink("one/moved") && !unlink("one/outer"));
  check("folders go", !rmdir("one/two") && !rmdir("one"));
}

int main(int argc, char **argv) {
  folders(argc > 1 ? argv[1] : "/");
  opened_folders();
  lines();
  mappings();
  others();
  puts("end");
  return 0;
}
