// A server of files ends while clients use it and wait for it. They get an error, and find the next
// one by the same name.
#include <errno.h>
#include <fcntl.h>
#include <flick/files.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

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

static pid_t start(char *server) {
  pid_t child;
  char *words[] = {server, "--size", "1", NULL};
  expect(posix_spawn(&child, server, NULL, NULL, words, environ), 0, "posix_spawn");
  return child;
}

static void stop(pid_t server) {
  int status;
  expect(kill(server, SIGKILL), 0, "kill");
  expect(waitpid(server, &status, 0), server, "waitpid");
}

// A thread reads from a pipe that nobody writes to.
static void *wait_for_bytes(void *pipe) {
  char text[4];
  return (void *)(read(*(int *)pipe, text, sizeof text) < 0 ? (long)errno : 0l);
}

int main(void) {
  char text[8] = {0};
  struct stat about;
  pid_t server = start("file-server");
  int file = open("/srv/files/a", O_RDWR | O_CREAT);
  expect(write(file, "first", 5), 5, "write");
  stop(server);
  fails(read(file, text, 5), EOWNERDEAD, "a read of what is gone");
  fails(lseek(file, 0, SEEK_END), EOWNERDEAD, "lseek of what is gone");
  server = start("file-server");
  // Its files are others, and the old number is of none of them.
  while (stat("/srv/files/b", &about) && errno != ENOENT)
    usleep(1000);
  int next = open("/srv/files/a", O_RDWR | O_CREAT | O_EXCL);
  expect(next >= 0, 1, "open of a new server");
  expect(write(next, "second", 6), 6, "write");
  fails(write(file, "x", 1), EOWNERDEAD, "a write to what is gone");
  fails(close(file), EOWNERDEAD, "a close of what is gone");
  expect(pread(next, text, 6, 0), 6, "read");
  expect(memcmp(text, "second", 6), 0, "what is read");
  expect(close(next), 0, "close");
  stop(server);
  fails(stat("/srv/files/a", &about), ENOENT, "no server");

  // A thread waits for its answer.
  server = start("pipe-server");
  int in = open("/srv/pipes/p", O_RDONLY);
  pthread_t thread;
  void *error;
  pthread_create(&thread, NULL, wait_for_bytes, &in);
  usleep(2000);
  stop(server);
  pthread_join(thread, &error);
  expect((long)error, EOWNERDEAD, "a read that waits for what ends");
  // Again and again, and nothing is left of the old ones.
  for (int n = 0; n < 12; n++) {
    server = start("pipe-server");
    int end, out;
    while ((end = open("/srv/pipes/p", O_RDONLY)) < 0)
      usleep(1000);
    out = open("/srv/pipes/p", O_WRONLY);
    expect(write(out, "abc", 3), 3, "write");
    stop(server);
    fails(close(out), EOWNERDEAD, "a close of what is gone");
    fails(close(end), EOWNERDEAD, "a close of what is gone");
  }
  // A terminal, by two servers.
  for (int n = 0; n < 2; n++) {
    server = start("terminal-server");
    int out = open("/srv/terminal", O_WRONLY);
    expect(write(out, n ? "by the second\n" : "by the first \n", 14), 14, "write");
    expect(isatty(out), 1, "isatty");
    fails(lseek(out, 0, SEEK_SET), ESPIPE, "lseek");
    fails(open("/srv/terminal", O_RDWR), EINVAL, "a terminal for both");
    stop(server);
    fails(write(out, "x", 1), EOWNERDEAD, "a write to what is gone");
    fails(close(out), EOWNERDEAD, "a close of what is gone");
  }
  printf("checks that fail: %d\n", wrong);
  return wrong != 0;
}
