// poll and select of pipes, files and the console, and calls that do not wait. With a word, the
// pipes are those of a server of pipes.
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/select.h>
#include <unistd.h>

static int wrong;

static void expect(int64_t outcome, int64_t wanted, const char *what) {
  if (outcome == wanted)
    return;
  fprintf(stderr, "%s: %ld in place of %ld (errno %d)\n", what, (long)outcome, (long)wanted, errno);
  wrong++;
}

static void fails(int64_t outcome, int error, const char *what) {
  expect(outcome, -1, what);
  expect(errno, error, what);
}

static int look(int number, short events, int milliseconds) {
  struct pollfd file = {.fd = number, .events = events, .revents = -1};
  int found = poll(&file, 1, milliseconds);
  expect(found, file.revents != 0, "files that poll finds");
  return file.revents;
}

static void *write_later(void *number) {
  usleep(5000);
  expect(write((int)(intptr_t)number, "later", 5), 5, "write");
  return NULL;
}

static void a_pipe(int is_of_server) {
  int ends[2];
  char bytes[4096];
  expect(pipe(ends), 0, "pipe");
  expect(ends[0] >= 64, is_of_server, "whose pipe it is");
  expect(look(ends[0], POLLIN | POLLOUT, 0), 0, "an empty pipe");
  expect(look(ends[1], POLLIN | POLLOUT, 0), POLLOUT, "room of a pipe");
  struct timespec before, now;
  clock_gettime(CLOCK_MONOTONIC, &before);
  expect(look(ends[0], POLLIN, 3), 0, "an empty pipe");
  clock_gettime(CLOCK_MONOTONIC, &now);
  int64_t passed = (now.tv_sec - before.tv_sec) * 1000000000 + now.tv_nsec - before.tv_nsec;
  expect(passed >= 3000000 && passed < 9000000, 1, "three milliseconds");
  // Another thread writes meanwhile.
  pthread_t thread;
  pthread_create(&thread, NULL, write_later, (void *)(intptr_t)ends[1]);
  expect(look(ends[0], POLLIN, -1), POLLIN, "a pipe that is written later");
  pthread_join(thread, NULL);
  expect(read(ends[0], bytes, 3), 3, "read");
  expect(look(ends[0], POLLIN, 0), POLLIN, "the rest of what was read");
  expect(read(ends[0], bytes, 9), 2, "read");
  expect(look(ends[0], POLLIN, 0), 0, "an empty pipe");
  // Nothing waits.
  expect(fcntl(ends[0], F_SETFL, O_NONBLOCK), 0, "fcntl");
  expect(fcntl(ends[1], F_SETFL, O_NONBLOCK), 0, "fcntl");
  expect(fcntl(ends[0], F_GETFL), O_RDONLY | O_NONBLOCK, "fcntl");
  fails(read(ends[0], bytes, 1), EAGAIN, "a read of an empty pipe");
  memset(bytes, 7, sizeof bytes);
  int64_t all = 0;
  for (ssize_t size; (size = write(ends[1], bytes, sizeof bytes)) > 0;)
    all += size;
  fails(write(ends[1], bytes, 1), EAGAIN, "a write to a full pipe");
  expect(all, is_of_server ? 65536 : 4096, "bytes of a full pipe");
  expect(look(ends[1], POLLOUT, 1), 0, "a full pipe");
  for (ssize_t size; (size = read(ends[0], bytes, sizeof bytes)) > 0;)
    all -= size;
  expect(all, 0, "bytes that are read");
  expect(look(ends[1], POLLOUT, 1), POLLOUT, "a pipe that was read");
  // The other side goes.
  int others[2];
  expect(pipe(others), 0, "pipe");
  expect(write(ends[1], "x", 1), 1, "write");
  close(ends[1]), close(others[0]);
  expect(look(ends[0], POLLIN, -1), POLLIN | POLLHUP, "a pipe without a writer");
  expect(look(others[1], POLLOUT, -1), POLLOUT | POLLERR, "a pipe without a reader");
  expect(read(ends[0], bytes, 9), 1, "read");
  expect(read(ends[0], bytes, 9), 0, "the end");
  close(ends[0]), close(others[1]);
  expect(look(ends[0], POLLIN, -1), POLLNVAL, "what is closed");
}

static void several(void) {
  int a[2], b[2];
  pipe(a), pipe(b);
  expect(write(b[1], "x", 1), 1, "write");
  struct pollfd files[] = {{a[0], POLLIN, 0}, {-1, POLLIN, 9}, {b[0], POLLIN, 0}};
  expect(poll(files, 3, -1), 1, "poll");
  expect(files[0].revents | files[1].revents, 0, "what is not ready");
  expect(files[2].revents, POLLIN, "what is ready");
  fd_set reads, writes;
  FD_ZERO(&reads);
  FD_ZERO(&writes);
  FD_SET(a[0], &reads), FD_SET(b[0], &reads), FD_SET(a[1], &writes);
  struct timeval time = {.tv_usec = 1000};
  expect(select(b[1] + 1, &reads, &writes, NULL, &time), 2, "select");
  expect(!FD_ISSET(a[0], &reads) && FD_ISSET(b[0], &reads) && FD_ISSET(a[1], &writes), 1,
         "what select finds");
  FD_ZERO(&reads);
  FD_SET(a[0], &reads);
  expect(select(a[0] + 1, &reads, NULL, NULL, &time), 0, "select");
  expect(FD_ISSET(a[0], &reads), 0, "what select finds");
  for (int n = 0; n < 2; n++)
    close(a[n]), close(b[n]);
  FD_SET(a[0], &reads);
  fails(select(a[0] + 1, &reads, NULL, NULL, &time), EBADF, "select of what is closed");
  int file = open("new", O_RDWR | O_CREAT, 0666);
  expect(look(file, POLLIN | POLLOUT, -1), POLLIN | POLLOUT, "a file");
  close(file);
}

// Its input is a line, which comes at some time, and the end.
static void console(void) {
  char line[100];
  expect(look(1, POLLOUT, -1), POLLOUT, "standard output");
  expect(look(0, POLLIN, -1), POLLIN, "standard input");
  expect(fcntl(0, F_SETFL, O_NONBLOCK), 0, "fcntl");
  size_t used = 0;
  for (ssize_t size; (size = read(0, line + used, sizeof line - used));)
    if (size > 0)
      used += size;
    else
      expect(errno, EAGAIN, "a read that does not wait");
  expect(used, 7, "bytes of a line");
  expect(memcmp(line, "a line\n", 7), 0, "a line");
  expect(look(0, POLLIN, 0), POLLIN, "the end of standard input");
}

int main(int count, char **words) {
  if (count < 2 || strcmp(words[1], "console")) {
    // It waits until the server is there.
    expect(count < 2 || access("/srv/pipes", R_OK), 1, "a directory of pipes");
    a_pipe(count > 1);
    several();
  }
  console();
  printf("checks that fail: %d\n", wrong);
  return wrong != 0;
}
