// Files of the archive and files that the program makes: streams, and the calls below them.
// FILE: text.txt=one\ntwo\nthree\n
// FILE: folder/inner.txt=inner
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void show(const char *name) {
  FILE *file = fopen(name, "r");
  if (!file) {
    printf("%s: %s\n", name, strerror(errno));
    return;
  }
  char line[80];
  while (fgets(line, sizeof line, file))
    printf("%s: %s", name, line);
  printf("%s: end %d\n", name, feof(file) != 0);
  fclose(file);
}

static int compare(const void *one, const void *other) {
  return strcmp(*(char *const *)one, *(char *const *)other);
}

static void list(const char *name) {
  DIR *directory = opendir(name);
  char *names[16];
  int count = 0;
  for (struct dirent *entry; directory && (entry = readdir(directory));)
    if (strcmp(entry->d_name, "files"))
      names[count++] = strdup(entry->d_name);
  qsort(names, count, sizeof *names, compare);
  printf("%s:", name);
  for (int n = 0; n < count; n++)
    printf(" %s", names[n]);
  printf("\n");
  closedir(directory);
}

int main(void) {
  show("text.txt");
  show("/folder/inner.txt");
  show("missing.txt");

  // The archive's file is copied when it is written.
  FILE *file = fopen("text.txt", "a");
  fprintf(file, "%s\n", "four");
  fclose(file);
  show("text.txt");

  file = fopen("new.txt", "w+");
  for (int n = 0; n < 3000; n++)
    fprintf(file, "%d\n", n);
  printf("size %ld\n", ftell(file));
  fseek(file, -5, SEEK_END);
  int last = 0;
  fscanf(file, "%d", &last);
  printf("last %d\n", last);
  fclose(file);

  int number = open("new.txt", O_RDWR);
  char bytes[4];
  struct stat about;
  fstat(number, &about);
  printf("%ld bytes, regular %d\n", (long)about.st_size, S_ISREG(about.st_mode));
  lseek(number, 2, SEEK_SET);
  printf("read %d", (int)read(number, bytes, 3));
  printf(" %.3s\n", bytes);
  ftruncate(number, 1);
  printf("left %ld\n", (long)lseek(number, 0, SEEK_END));
  unlink("new.txt");
  printf("read after unlink %d\n", (int)pread(number, bytes, 1, 0));
  close(number);
  printf("closed %d %s\n", (int)read(number, bytes, 1), strerror(errno));
  show("new.txt");

  list("/");
  mkdir("made", 0700);
  file = fopen("made/file", "w");
  fputs("not closed, but flushed at the end", file);
  list("made");
  printf("rmdir %d %s\n", rmdir("made"), strerror(errno));
  printf("rename %d\n", rename("made/file", "moved"));
  printf("rmdir %d\n", rmdir("made"));
  list("/");
  printf("open of a directory %d %s\n", open("folder", O_RDWR), strerror(errno));
  printf("no folder %d %s\n", open("none/file", O_CREAT | O_WRONLY, 0600), strerror(errno));
  printf("terminal %d %d\n", isatty(0), isatty(1));
  return 0;
}
