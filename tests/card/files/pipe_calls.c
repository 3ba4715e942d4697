// Pipes by POSIX's names between processes and threads: order, ends, and many at once.
#include <errno.h>
#include <fcntl.h>
#include <flick/files.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SIZE = 400000, PAIRS = 7, LINES = 300, LEFT = 70000 };

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

static char byte_at(size_t n) { return n * 7 + n / 251; }

// What is written by another process, in pieces of many sizes.
static void write_all(const char *path) {
  static char data[SIZE];
  for (size_t n = 0; n < SIZE; n++)
    data[n] = byte_at(n);
  int pipe = open(path, O_WRONLY);
  expect(pipe >= 0, 1, "open to write");
  for (size_t at = 0, size = 1; at < SIZE; at += size, size = size * 3 % 70001) {
    if (size > SIZE - at)
      size = SIZE - at;
    expect(write(pipe, data + at, size), size, "write");
  }
  expect(close(pipe), 0, "close");
}

static void read_all(const char *path) {
  static char data[SIZE + 1];
  int pipe = open(path, O_RDONLY);
  expect(pipe >= 0, 1, "open to read");
  size_t done = 0, size = 1;
  for (ssize_t got = 1; got > 0 && done < SIZE; done += got, size = size * 5 % 60007)
    got = read(pipe, data + done, size < sizeof data - done ? size : sizeof data - done);
  expect(done, SIZE, "bytes that were read");
  size_t same = 0;
  while (same < SIZE && data[same] == byte_at(same))
    same++;
  expect(same, SIZE, "bytes in their order");
  expect(read(pipe, data, 1), 0, "the end");
  expect(close(pipe), 0, "close");
}

static void errors(void) {
  struct stat about;
  char text[4];
  int in = open("/srv/pipes/e", O_RDONLY), out = open("/srv/pipes/e", O_WRONLY);
  fails(open("/srv/pipes/e", O_RDWR), EINVAL, "open for both");
  fails(open("/srv/pipes/0123456789012345678901234567890123456789012345678901234567890", O_RDONLY),
        ENAMETOOLONG, "a long name");
  fails(lseek(in, 0, SEEK_SET), ESPIPE, "lseek");
  expect(fstat(in, &about), 0, "fstat");
  expect(S_ISFIFO(about.st_mode), 1, "a pipe");
  fails(write(in, "x", 1), EBADF, "a write to the end to read");
  fails(read(out, text, 1), EBADF, "a read of the end to write");
  expect(write(out, "abc", 3), 3, "write");
  expect(read(in, text, 2), 2, "a part");
  expect(read(in, text + 2, 2), 1, "the rest");
  expect(memcmp(text, "abc", 3), 0, "what was written");
  expect(write(out, "d", 1), 1, "write");
  expect(close(in), 0, "close");
  fails(write(out, "e", 1), EPIPE, "a write without a reader");
  expect(close(out), 0, "close");
  // With its last end, a pipe goes, and what is in it.
  in = open("/srv/pipes/e", O_RDONLY);
  out = open("/srv/pipes/e", O_WRONLY);
  expect(close(out), 0, "close");
  expect(read(in, text, 4), 0, "a new pipe");
  expect(close(in), 0, "close");
}

// Several writers of lines, and one reader. Small writes are in one piece.
static void *write_lines(void *argument) {
  int pipe = open("/srv/pipes/lines", O_WRONLY);
  for (int n = 0; n < LINES; n++) {
    char line[16];
    int size = snprintf(line, sizeof line, "%ld %d\n", (long)argument, n);
    if (write(pipe, line, size) != size)
      return (void *)1;
  }
  return (void *)(long)close(pipe);
}

static void lines(void) {
  pthread_t threads[3];
  int next[3] = {0}, count = 0, in = open("/srv/pipes/lines", O_RDONLY);
  int first = open("/srv/pipes/lines", O_WRONLY);
  for (long n = 0; n < 3; n++)
    pthread_create(&threads[n], NULL, write_lines, (void *)n);
  FILE *stream = fdopen(in, "r");
  char line[32];
  while (count < 3 * LINES && fgets(line, sizeof line, stream)) {
    int writer, n;
    expect(sscanf(line, "%d %d", &writer, &n), 2, "a line");
    expect(n, next[writer % 3]++, "its number");
    count++;
  }
  expect(count, 3 * LINES, "lines");
  for (int n = 0; n < 3; n++) {
    void *failed;
    pthread_join(threads[n], &failed);
    expect((long)failed, 0, "a writer");
  }
  expect(close(first), 0, "close");
  expect(fgetc(stream), EOF, "the end");
  fclose(stream);
}

// More calls wait than the kernel takes at once.
struct pair {
  int in, out;
};

static void *pass_on(void *argument) {
  struct pair *pair = argument;
  char buffer[5000];
  ssize_t got;
  while ((got = read(pair->in, buffer, sizeof buffer)) > 0)
    if (write(pair->out, buffer, got) != got)
      return (void *)1;
  return (void *)(long)(got < 0 || close(pair->in) || close(pair->out));
}

static void many(void) {
  static struct pair pairs[PAIRS];
  pthread_t threads[PAIRS];
  char path[24], data[9000], got[9000];
  int ends[PAIRS + 1][2];
  for (int n = 0; n <= PAIRS; n++) {
    snprintf(path, sizeof path, "/srv/pipes/many-%d", n);
    ends[n][0] = open(path, O_RDONLY);
    ends[n][1] = open(path, O_WRONLY);
    expect(ends[n][1] >= 0, 1, "open");
  }
  for (int n = 0; n < PAIRS; n++) {
    pairs[n] = (struct pair){ends[n][0], ends[n + 1][1]};
    pthread_create(&threads[n], NULL, pass_on, &pairs[n]);
  }
  for (int turn = 0; turn < 5; turn++) {
    memset(data, 'a' + turn, sizeof data);
    expect(write(ends[0][1], data, sizeof data), sizeof data, "write");
    for (size_t done = 0; done < sizeof got;) {
      ssize_t part = read(ends[PAIRS][0], got + done, sizeof got - done);
      if (part <= 0)
        return expect(part, 1, "read");
      done += part;
    }
    expect(memcmp(got, data, sizeof got), 0, "what has come through all");
  }
  expect(close(ends[0][1]), 0, "close");
  expect(read(ends[PAIRS][0], got, 1), 0, "the end");
  for (int n = 0; n < PAIRS; n++) {
    void *failed;
    pthread_join(threads[n], &failed);
    expect((long)failed, 0, "a thread");
  }
  expect(close(ends[PAIRS][0]), 0, "close");
}

int main(int argc, char **argv) {
  if (argc > 1 && !strcmp(argv[1], "writes")) {
    write_all("/srv/pipes/data");
    return wrong != 0;
  }
  // It ends without a close, when a reader has taken some of what it writes. The rest is there.
  static char left[LEFT];
  if (argc > 1) {
    int pipe = open("/srv/pipes/left", O_WRONLY);
    expect(write(pipe, left, LEFT), LEFT, "write");
    return wrong != 0;
  }
  read_all("/srv/pipes/data");
  int in = open("/srv/pipes/left", O_RDONLY);
  ssize_t got, size = 0;
  while ((got = read(in, left, LEFT)) > 0)
    size += got;
  expect(size, LEFT, "what was left");
  expect(got, 0, "its end");
  expect(close(in), 0, "close");
  errors();
  lines();
  many();
  printf("checks that fail: %d\n", wrong);
  return wrong != 0;
}
