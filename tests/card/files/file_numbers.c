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
static int copy(const char *name) {
  int c;
  while ((c = getchar()) != EOF)
    putchar(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
  // It has names of files, and so what opens those of servers.
  return access(name, R_OK) || getenv("FLICK_SPAWNED_FILES");
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

// A program of another test writes a word to a number, and reads a line of its input.
static int say(char **words) {
  char line[100], text[200];
  ssize_t size = read(0, line, strtol(words[2], NULL, 10));
  int length = snprintf(text, sizeof text, "%s %.*s", words[1], (int)size, line);
  return write(atoi(words[0]), text, length) != length;
}

static void run(char *own, const char *number, const char *word, const char *bytes,
                posix_spawn_file_actions_t *actions) {
  pid_t child = 0;
  int status;
  char *words[] = {own, "say", (char *)number, (char *)word, (char *)bytes, NULL};
  expect(posix_spawn(&child, own, actions, NULL, words, environ), 0, "posix_spawn");
  expect(waitpid(child, &status, 0), child, "waitpid");
  expect(WEXITSTATUS(status), 0, "its status");
}

// Programs and this one have one position, and low numbers are theirs, too.
static void one_position(char *own) {
  int console = dup(1), in = open("/srv/files/out", O_RDONLY);
  int out = open("/srv/files/together", O_WRONLY | O_CREAT | O_TRUNC);
  expect(write(out, "1 ", 2), 2, "write");
  expect(dup2(in, 0), 0, "dup2");
  expect(dup2(out, 1), 1, "dup2");
  run(own, "1", "one:", "12", NULL);
  expect(write(out, "2 ", 2), 2, "write");
  run(own, "1", "two:", "5", NULL);
  // Actions in their order: 5 is what 1 was, and 1 is the console again.
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, 1, 5);
  posix_spawn_file_actions_adddup2(&actions, console, 1);
  posix_spawn_file_actions_adddup2(&actions, 5, 6);
  posix_spawn_file_actions_addclose(&actions, 5);
  run(own, "6", "three:", "6", &actions);
  posix_spawn_file_actions_destroy(&actions);
  char rest[10] = {0};
  expect(read(0, rest, 5), 5, "read");
  expect(memcmp(rest, "nine\n", 5), 0, "what is left for this program");
  expect(lseek(out, 0, SEEK_CUR), 44, "the position");
  expect(dup2(console, 1), 1, "dup2");
  close(console), close(in), close(out), close(0);
  has("/srv/files/together", "1 one: to the file\n2 two: also\nthree: still\n");
}

// A program that is a file of a server, and names from its directory on.
static void elsewhere(char *own) {
  char part[4096], path[64];
  int from = open(own, O_RDONLY), to = open("/srv/files/program", O_WRONLY | O_CREAT | O_TRUNC);
  for (ssize_t size; (size = read(from, part, sizeof part)) > 0;)
    expect(write(to, part, size), size, "write");
  close(from), close(to);
  expect(chdir("/srv/files/none"), -1, "chdir to nothing");
  expect(chdir("/srv/files/out"), -1, "chdir to a file");
  expect(chdir("/srv/files"), 0, "chdir");
  expect(mkdir("d", 0777), 0, "mkdir");
  expect(chdir("d/../d/."), 0, "chdir");
  expect(strcmp(getcwd(path, sizeof path), "/srv/files/d"), 0, "getcwd");
  expect(getcwd(path, 12) == NULL, 1, "getcwd without room");
  expect(rename("../together", "mine"), 0, "rename");
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "mine", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, "large", O_WRONLY | O_CREAT, 0);
  pid_t child;
  int status;
  char *words[] = {"program", "copy", "large", NULL};
  expect(posix_spawn(&child, "../program", &actions, NULL, words, environ), 0, "posix_spawn");
  expect(waitpid(child, &status, 0), child, "waitpid");
  expect(WEXITSTATUS(status), 0, "its status");
  posix_spawn_file_actions_destroy(&actions);
  has("large", "1 ONE: TO THE FILE\n2 TWO: ALSO\nTHREE: STILL\n");
  expect(posix_spawn(&child, "mine", NULL, NULL, words, environ), ENOEXEC, "a file that is none");
  expect(chdir("/"), 0, "chdir");
  expect(access("/srv/files/d/large", R_OK), 0, "access");
}

// A program that takes nothing leaves nothing: files that it was to have are closed.
static void no_file_stays(char *own) {
  for (int n = 0; n < 40; n++) {
    posix_spawn_file_actions_t actions;
    int ends[2];
    expect(pipe(ends), 0, "pipe");
    expect(ends[0] >= 64, 1, "a pipe of the server");
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 1, "/srv/files/out", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 2);
    pid_t child;
    char *words[] = {own, "copy", NULL};
    expect(posix_spawn(&child, n % 2 ? own : "none", &actions, NULL, words, environ),
           n % 2 ? 0 : ENOENT, "posix_spawn");
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    char byte;
    expect(n % 2 || read(ends[0], &byte, 1) == 0, 1, "the end of the pipe");
    close(ends[0]);
    if (n % 2 && waitpid(child, NULL, 0) != child)
      wrong++;
  }
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
  if (argc > 4)
    return say(argv + 2);
  if (argc > 1)
    return copy(argc > 2 ? argv[2] : "/srv/files/out");
  low_numbers();
  programs(argv[0]);
  pipeline(argv[0]);
  one_position(argv[0]);
  elsewhere(argv[0]);
  no_file_stays(argv[0]);
  printf("checks that fail: %d\n", wrong);
  return wrong != 0;
}
