// A program's own function with the name of one of POSIX's, which the C language leaves to it, is
// called by the program alone, wherever it is placed: also while the runtime itself reads files.
// OUT: 39800 200 1 1
// CROSSINGS: host-to-nxp>=1
#include <flick.h>
#include <stdio.h>

static int reads, closes, writes;
FLICK_NXP __attribute__((noinline)) long read(long a) {
  reads++;
  return a * 2;
}
FLICK_NXP __attribute__((noinline)) int close(const char *what) { return ++closes + !*what; }
__attribute__((noinline)) int write(void) { return ++writes; }
FLICK_NXP static long twice(long a) { return read(a) + 0 * write(); }

int main(void) {
  long sum = 0;
  for (long i = 0; i < 199; i++)
    sum += read(i);
  sum += twice(199);
  printf("%ld %d %d %d\n", sum, reads, close("x"), writes);
  return 0;
}
