// Accelerators of streams as numbers of files: a digest, a chain whose blocks come back one by one,
// all of it at once, poll, stdio, NxP code beside it, and names that are wrong.
#include "check.h"
#include <fcntl.h>
#include <math.h>
#include <poll.h>

enum { BLOCK = 2048, IMAGE = 300 * BLOCK };

static float image[IMAGE / 4], result[IMAGE / 4];

// Names of the library's own functions are the program's.
int why(int error, const char *text) { return error + text[0]; }
long find_tile(const char *name) { return name[0]; }
int flick_file_close(int number) { return number; }

FLICK_NXP static long twice(long x) { return 2 * x; }

static void digest(void) {
  static const unsigned char wanted[] = {0xba, 0x78, 0x16, 0xbf};
  unsigned char sum[64];
  int number = opened("card:/sha256", O_RDWR | O_CLOEXEC);
  FILE *to = fdopen(dup(number), "w");
  fputs("a", to);
  fflush(to);
  fputs("bc", to);
  fclose(to);
  shutdown(number, SHUT_WR);
  struct pollfd one = {number, POLLIN, 0};
  expect(poll(&one, 1, 10000) == 1 && one.revents & POLLIN, "poll");
  expect(read_all(number, sum, sizeof sum) == 32 && !memcmp(sum, wanted, 4), "the digest of abc");
  expect(fcntl(number, F_GETFD) == FD_CLOEXEC, "O_CLOEXEC");
  closes(number, "the end of a digest");
}

static void chain(void) {
  for (int n = 0; n < IMAGE / 4; n++)
    image[n] = n * 31 % 255;
  int number = opened("card:/fft|mul?kernel=kernel|ifft", O_RDWR);
  char *to = (char *)result;
  for (int n = 0; n < 3; n++) {
    expect(!write_all(number, (char *)image + n * BLOCK, BLOCK), "a block");
    expect(read_all(number, to + n * BLOCK, BLOCK) == BLOCK, "what becomes of it");
  }
  expect(twice(21) == 42, "NxP code beside a chain");
  // All before anything is read.
  expect(!write_all(number, (char *)image + 3 * BLOCK, IMAGE - 3 * BLOCK), "the other blocks");
  shutdown(number, SHUT_WR);
  expect(read_all(number, to + 3 * BLOCK, IMAGE) == IMAGE - 3 * BLOCK, "all that becomes of them");
  closes(number, "the end of a chain");
  int bad = 0;
  for (int n = 0; n < IMAGE / 4; n++)
    bad += !(fabsf(result[n] - 2 * image[n]) < 0.01f);
  expect(!bad, "points of the chain");
}

static void fails(const char *path, int flags, int error, const char *text) {
  errno = 0;
  int number = flick_open(path, flags);
  expect(number == -1 && errno == error, path);
  expect(strstr(flick_error(), text) != NULL, text);
}

int main(void) {
  expect(why(1, "a") + find_tile("b") + flick_file_close(3) == 1 + 'a' + 'b' + 3, "own functions");
  digest();
  chain();
  // The program wants no more.
  int number = opened("card:/fft|ifft", O_RDWR);
  expect(!write_all(number, image, 8 * BLOCK), "blocks that nobody reads");
  closes(number, "an early end");
  number = opened("card:/sha256", O_RDWR | O_NONBLOCK);
  expect(read(number, result, 1) < 0 && errno == EAGAIN, "O_NONBLOCK");
  close(number);
  fails("fft", O_RDWR, EINVAL, "names begin with card:/");
  fails("card:/", O_RDWR, EINVAL, "name of an accelerator");
  fails("card:/nothing", O_RDWR, ENOENT, "no accelerator nothing");
  fails("card:/fft", O_RDONLY, EINVAL, "O_RDWR");
  fails("card:/fft|stencil", O_RDWR, EINVAL, "no accelerator of streams");
  fails("card:/mul?kernel", O_RDWR, EINVAL, "?NAME=FILE");
  fails("card:/mul?kernel=none", O_RDWR, ENOENT, "the argument none");
  fails("card:/mul?kernel=large", O_RDWR, EFBIG, "larger than its memory");
  fails("card:/fft|fft|fft|fft|fft|fft|fft|fft|fft", O_RDWR, E2BIG, "more than 8");
  fails("card:/files/none", O_RDONLY, ENOENT, "no such server");
  expect(flick_close(-1) == -1 && errno == EBADF, "flick_close of no number");
  digest();
  return conclude();
}
