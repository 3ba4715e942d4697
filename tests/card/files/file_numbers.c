// Numbers of files of servers: dup2 to low numbers, streams on them, and programs that are started
// with such files as their input and output.
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static int wrong;

static void expect(int64_t outcome, int64_t wanted, const char *what) {
  if (outcome == wanted)
    return;
  fprintf(stderr, "%s: %ld in place of %ld (errno %d)\n", what, (long)outcome, (long)wanted, errno);
  wrong++;
}

static void has(const char *path, const char *wanted) {
  char text[400] = {0};
  int file = open(path, O_RDONLY);
  read(file, text, sizeof text - 1);
  close(file);
  if (strcmp(text, wanted)) {
    fprintf(stderr, "%s has: %s", path, text);
    wrong++;
  }
}

static void low_numbers(void) {
  int console = dup(1), file = open("/srv/files/out", O_WRONLY | O_CREAT);
  expect(dup2(file, 1), 1, "dup2");
  expect(close(file), 0, "close");
  printf("to the file\n");
  fflush(stdout);
  int other = dup(1);
  expect(other >= 0 && other < 64, 1, "dup");
  expect(write(other, "also\n", 5), 5, "write");
  expect(close(1), 0, "close");
  expect(write(1, "no", 2), -1, "a write to what is closed");
  expect(write(other, "still\n", 6), 6, "write");
  // Another file gets the number that is free.
  int own = open("own", O_RDWR | O_CREAT);
  expect(own, 1, "the number of a file of the program");
  expect(close(own), 0, "close");
  expect(dup2(other, 9), 9, "dup2");
  expect(write(9, "nine\n", 5), 5, "write");
  expect(close(9), 0, "close");
  expect(close(other), 0, "close");
  expect(dup2(console, 1), 1, "dup2");
  expect(close(console), 0, "close");
  has("/srv/files/out", "to the file\nalso\nstill\nnine\n");
}

// Letters of the standard input become large.
static int copy(void) {
  int c;
  while ((c = getchar()) != EOF)
    putchar(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
  // It has names of files, and so what opens those of servers.
  return access("/srv/files/out", R_OK) || getenv("FLICK_SPAWNED_FILES");
}

static pid_t start(char *own, posix_spawn_file_actions_t *actions) {
  pid_t child = 0;
  char *words[] = {own, "copy", NULL};
  expect(posix_spawn(&child, own, actions, NULL, words, environ), 0, "posix_spawn");
  posix_spawn_file_actions_destroy(actions);
  return child;
}

static void programs(char *own) {
  posix_spawn_file_actions_t actions;
  int status, file;
  // By paths.
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/srv/files/out", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, "/srv/files/large", O_WRONLY | O_CREAT | O_TRUNC,
                                   0);
  pid_t child = start(own, &actions);
  expect(waitpid(child, &status, 0), child, "waitpid");
  expect(WEXITSTATUS(status), 0, "its status");
  has("/srv/files/large", "TO THE FILE\nALSO\nSTILL\nNINE\n");
  // By a number that is open, and beside a file of the program.
  file = open("own", O_WRONLY | O_CREAT);
  expect(write(file, "from here\n", 10), 10, "write");
  close(file);
  file = open("/srv/files/large", O_WRONLY | O_APPEND);
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "own", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, file, 1);
  child = start(own, &actions);
  expect(waitpid(child, &status, 0), child, "waitpid");
  expect(WEXITSTATUS(status), 0, "its status");
  close(file);
  has("/srv/files/large", "TO THE FILE\nALSO\nSTILL\nNINE\nFROM HERE\n");
}

// Two programs with a pipe of a server between them.
static void pipeline(char *own) {
  posix_spawn_file_actions_t actions;
  pid_t children[2];
  for (int n = 0; n < 2; n++) {
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, n ? "/srv/pipes/p" : "/srv/files/out", O_RDONLY,
                                     0);
    posix_spawn_file_actions_addopen(&actions, 1, n ? "/srv/files/end" : "/srv/pipes/p",
                                     O_WRONLY | O_CREAT, 0);
    children[n] = start(own, &actions);
  }
  for (int n = 0; n < 2; n++)
    expect(waitpid(children[n], NULL, 0), children[n], "waitpid");
  has("/srv/files/end", "TO THE FILE\nALSO\nSTILL\nNINE\n");
}

int main(int argc, char **argv) {
  if (argc > 1)
    return copy();
  low_numbers();
  programs(argv[0]);
  pipeline(argv[0]);
  printf("checks that fail: %d\n", wrong);
  return wrong != 0;
}
