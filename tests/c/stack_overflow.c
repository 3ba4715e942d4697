// Unbounded recursion in NxP code ends by SIGSEGV, as natively, with a report that names the cause.
// OUT: recursing
// EXIT: signal SEGV
// ERR: FLK0502
// SKIP-VALGRIND: memcheck reports the overflow that is the subject
#include <flick.h>
#include <stdio.h>

static volatile long limit = 1L << 40;

FLICK_NXP static long recurse(long n) {
  volatile char frame[200];
  frame[n % 200] = (char)n;
  if (n == limit)
    return 0;
  return recurse(n + 1) + frame[n % 200];
}

int main(void) {
  printf("recursing\n");
  fflush(stdout);
  return (int)recurse(0);
}
