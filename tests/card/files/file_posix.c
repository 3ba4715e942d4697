// POSIX's calls and streams for files of a server.
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <flick/files.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int wrong;

static void expect(int64_t outcome, int64_t wanted, const char *what) {
  if (outcome == wanted)
    return;
  printf("%s: %ld in place of %ld (errno %d)\n", what, (long)outcome, (long)wanted, errno);
  wrong++;
}

static void fails(int64_t outcome, int error, const char *what) {
  expect(outcome, -1, what);
  expect(errno, error, what);
}

static void streams(void) {
  char line[80];
  int lines = 0;
  FILE *file = fopen("/srv/files/lines", "w");
  for (int n = 0; n < 5000; n++)
    fprintf(file, "line %d\n", n);
  expect(fclose(file), 0, "fclose");
  file = fopen("/srv/files/lines", "r");
  while (fgets(line, sizeof line, file)) {
    int n;
    expect(sscanf(line, "line %d", &n), 1, "a line");
    expect(n, lines++, "its number");
  }
  expect(lines, 5000, "lines");
  expect(fseek(file, 8, SEEK_SET), 0, "fseek");
  expect(fgets(line, sizeof line, file) == line && !strcmp(line, "ine 1\n"), 1, "behind fseek");
  fclose(file);
  file = fopen("/srv/files/lines", "a+");
  expect(fputs("the end\n", file) >= 0, 1, "fputs");
  expect(fseek(file, -8, SEEK_END), 0, "fseek");
  expect(fgets(line, sizeof line, file) == line && !strcmp(line, "the end\n"), 1, "the last line");
  fclose(file);
}

static void numbers(void) {
  char text[8] = {0};
  struct stat about;
  int file = open("/srv/files/n", O_RDWR | O_CREAT | O_EXCL, 0644);
  expect(file >= 0, 1, "open");
  expect(write(file, "abcdef", 6), 6, "write");
  expect(lseek(file, 2, SEEK_SET), 2, "lseek");
  expect(read(file, text, 2), 2, "read");
  expect(memcmp(text, "cd", 2), 0, "what is read");
  expect(pwrite(file, "XY", 2, 4), 2, "pwrite");
  expect(pread(file, text, 6, 0), 6, "pread");
  expect(memcmp(text, "abcdXY", 6), 0, "what is read");
  expect(lseek(file, 0, SEEK_CUR), 4, "the position");
  expect(ftruncate(file, 3), 0, "ftruncate");
  expect(fstat(file, &about), 0, "fstat");
  expect(about.st_size, 3, "the size");
  expect(S_ISREG(about.st_mode), 1, "a file");
  expect(fsync(file), 0, "fsync");
  expect(isatty(file), 0, "isatty");
  expect(fcntl(file, F_GETFL), O_RDWR, "flags");
  expect(flick_file_of(file) != NULL, 1, "what an accelerator gets");
  expect(close(file), 0, "close");
  fails(read(file, text, 1), EBADF, "a read of a closed file");
  fails(close(file), EBADF, "a second close");
  expect(flick_file_of(file) == NULL, 1, "what an accelerator gets");
  fails(open("/srv/files/n", O_RDWR | O_CREAT | O_EXCL), EEXIST, "O_EXCL");
  fails(open("/srv/files/none/n", O_RDWR | O_CREAT), ENOENT, "no directory");
  fails(open("/srv/files", O_RDWR), EISDIR, "the root");
  int all[32], count = 0;
  while (count < 32 && (all[count] = open("/srv/files/n", O_RDONLY)) >= 0)
    count++;
  fails(-1, EMFILE, "a file too many");
  expect(count, 16, "files of a session");
  while (count)
    expect(close(all[--count]), 0, "close");
}

static void names(void) {
  struct stat about;
  char found[3][8];
  int count = 0;
  expect(mkdir("/srv/files/d", 0755), 0, "mkdir");
  fails(mkdir("/srv/files/d", 0755), EEXIST, "a second mkdir");
  expect(rename("/srv/files/n", "/srv/files/d/m"), 0, "rename");
  expect(link("/srv/files/d/m", "/srv/files/d/l"), 0, "link");
  expect(stat("/srv/files/d/l", &about), 0, "stat");
  expect(about.st_nlink, 2, "links");
  expect(access("/srv/files/d/n", R_OK), -1, "access");
  fails(rename("/srv/files/d/m", "m"), EXDEV, "rename to another system");
  fails(rename("/srv/files/d/m", "/srv/others/m"), EXDEV, "rename to another server");
  fails(stat("/srv/none/d", &about), ENOENT, "no server");
  DIR *directory = opendir("/srv/files/d");
  struct dirent *entry;
  while (count < 3 && (entry = readdir(directory)))
    strcpy(found[count++], entry->d_name);
  closedir(directory);
  expect(count, 2, "entries");
  expect(!strcmp(found[0], "m") && !strcmp(found[1], "l"), 1, "their names");
  fails(rmdir("/srv/files/d"), ENOTEMPTY, "rmdir");
  expect(unlink("/srv/files/d/m"), 0, "unlink");
  expect(unlink("/srv/files/d/l"), 0, "unlink");
  expect(rmdir("/srv/files/d"), 0, "rmdir");
  // Many entries, in several parts.
  char path[60];
  expect(mkdir("/srv/files/many", 0755), 0, "mkdir");
  for (int n = 0; n < 150; n++) {
    snprintf(path, sizeof path, "/srv/files/many/a-name-that-is-quite-long-%03d", n);
    int file = open(path, O_WRONLY | O_CREAT);
    expect(close(file), 0, "close");
  }
  directory = opendir("/srv/files/many");
  for (count = 0; (entry = readdir(directory)); count++) {
    snprintf(path, sizeof path, "a-name-that-is-quite-long-%03d", count);
    expect(strcmp(entry->d_name, path), 0, "a name");
  }
  closedir(directory);
  expect(count, 150, "entries");
}

// Threads have files of one session.
static void *fill(void *argument) {
  char path[40], text[16];
  long own = (long)argument, failed = 0;
  for (int n = 0; n < 40; n++) {
    snprintf(path, sizeof path, "/srv/files/thread-%ld-%d", own, n);
    snprintf(text, sizeof text, "%ld %d", own, n);
    int file = open(path, O_RDWR | O_CREAT);
    failed += write(file, text, sizeof text) != sizeof text;
    failed += lseek(file, 0, SEEK_SET) != 0;
    char got[16];
    failed += read(file, got, sizeof got) != sizeof got || strcmp(got, text);
    failed += close(file) != 0;
  }
  return (void *)failed;
}

// What the other program has written at its end is there, though it was not closed.
static int after(void) {
  struct stat about;
  while (stat("/srv/files/last", &about) || about.st_size == 0)
    usleep(1000);
  expect(about.st_size, 4, "the size of what was not closed");
  return wrong != 0;
}

int main(int argc, char **argv) {
  (void)argv;
  if (argc > 1)
    return after();
  streams();
  numbers();
  names();
  pthread_t threads[3];
  for (long n = 0; n < 3; n++)
    pthread_create(&threads[n], NULL, fill, (void *)n);
  for (int n = 0; n < 3; n++) {
    void *failed;
    pthread_join(threads[n], &failed);
    expect((long)failed, 0, "calls of a thread");
  }
  // Files that are not a server's are as ever.
  FILE *own = fopen("own", "w");
  expect(own && fputs("own", own) >= 0 && !fclose(own), 1, "a file of the program");
  expect(unlink("own"), 0, "unlink");
  printf("checks that fail: %d\n", wrong);
  // It is not closed.
  int last = open("/srv/files/last", O_WRONLY | O_CREAT);
  expect(write(last, "kept", 4), 4, "write");
  return wrong != 0;
}
