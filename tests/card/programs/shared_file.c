// Two programs at once that share files: what one makes, the other sees. Lines of both are whole.
// Standard input is that of the first, and the status is its own.
// ARGS: first
// AND: second
// INPUT: for the first\n
// STATUS: 7
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NUMBERS = 20000, LINES = 30 };

static void await_file(const char *name) {
  struct stat about;
  while (stat(name, &about))
    usleep(100);
}

static void announce(const char *name) { close(open(name, O_CREAT | O_WRONLY, 0644)); }

static void print_lines(void) {
  for (int n = 0; n < LINES; n++)
    printf("a line that %s prints\n", "each of both");
}

static int first(void) {
  static unsigned numbers[NUMBERS];
  for (unsigned n = 0; n < NUMBERS; n++)
    numbers[n] = n * n;
  mkdir("box", 0755);
  int file = open("box/draft", O_CREAT | O_RDWR, 0644);
  ssize_t size = write(file, numbers, sizeof numbers);
  rename("box/draft", "box/ready");
  await_file("answered");
  // The same file, though the other program has removed its name.
  char answer[32] = "";
  lseek(file, size, SEEK_SET);
  ssize_t got = read(file, answer, sizeof answer);
  printf("first: wrote %zd bytes, got %zd: %s\n", size, got, answer);
  struct stat about;
  printf("first: its name: %s\n", stat("box/ready", &about) ? strerror(errno) : "is there");
  char line[32];
  while (fgets(line, sizeof line, stdin))
    printf("first: input %s", line);
  fflush(stdout);
  announce("lines");
  print_lines();
  return 7;
}

static int second(void) {
  await_file("box/ready");
  static unsigned numbers[NUMBERS];
  int file = open("box/ready", O_RDWR | O_APPEND);
  unsigned good = 0;
  if (read(file, numbers, sizeof numbers) == sizeof numbers)
    for (unsigned n = 0; n < NUMBERS; n++)
      good += numbers[n] == n * n;
  DIR *directory = opendir("box");
  struct dirent *entry = readdir(directory);
  printf("second: %u numbers of %s\n", good, entry ? entry->d_name : "none");
  closedir(directory);
  unlink("box/ready");
  printf("second: rmdir %d\n", rmdir("box"));
  printf("second: input %d\n", getchar());
  fflush(stdout);
  write(file, "well done", 9);
  announce("answered");
  await_file("lines");
  print_lines();
  return 9;
}

int main(int count, char **words) {
  return count == 2 && strcmp(words[1], "second") == 0 ? second() : first();
}
