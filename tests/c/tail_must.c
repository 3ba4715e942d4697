// Calls that must be tail calls, in host code: from function to function, to the NxP, and from
// there by a callback into another chain.
//
// OUT: 50005000 50005000
// OUT: 1000000 20000
#include "flick.h"
#include <stdio.h>
#ifdef __clang__
#define TAIL __attribute__((musttail)) return
#else
#define TAIL return
#endif
typedef long step(long n, long sum);
static long odd(long n, long sum);
__attribute__((noinline)) static long even(long n, long sum) {
  if (n == 0)
    return sum;
  TAIL odd(n - 1, sum + n);
}
__attribute__((noinline)) static long odd(long n, long sum) {
  if (n == 0)
    return sum;
  TAIL even(n - 1, sum + n);
}
FLICK_NXP __attribute__((noinline)) static long last(long n, long sum) { return n + sum; }
step *volatile next = even;
__attribute__((noinline)) static long by_pointer(long n, long sum) { TAIL next(n, sum); }
__attribute__((noinline)) static long to_nxp(long n, long sum) {
  sum += n;
  TAIL last(n, sum);
}
FLICK_NXP __attribute__((noinline)) static long calls(step *chain, long n) {
  return chain(n, 0) + 0;
}
int main(void) {
  long direct = calls(even, 10000);
  printf("%ld %ld\n", direct, calls(by_pointer, 10000));
  next = last;
  long end = by_pointer(500000, 500000);
  printf("%ld %ld\n", end, calls(to_nxp, 10000));
  return 0;
}
