// Unbounded mutual recursion of host and NxP code overflows one of the two stacks: SIGSEGV, never
// a hang or another end.
// EXIT: signal SEGV
// SKIP-VALGRIND: memcheck reports the overflow that is the subject
#include <flick.h>

static volatile long limit = 1L << 40;

FLICK_HOST static long host(long n);
FLICK_NXP static long nxp(long n) {
  volatile char frame[2000];
  frame[n % 2000] = (char)n;
  return n == limit ? 0 : host(n + 1) + frame[n % 2000];
}
FLICK_HOST static long host(long n) {
  volatile char frame[2000];
  frame[n % 2000] = (char)n;
  return n == limit ? 0 : nxp(n + 1) + frame[n % 2000];
}

int main(void) { return (int)nxp(0); }
