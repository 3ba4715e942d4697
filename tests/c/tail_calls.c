// Calls in tail position: among NxP functions, from NxP code to host functions and through
// pointers, and back, in long chains at -O2.
// OUT: 750500 833
// OUT: 304 3004 2904 29004
#include <flick.h>
#include <stdio.h>

typedef long next(long, long);

FLICK_NXP static long nxp_sum(long n, long s);
FLICK_NXP static long nxp_other(long n, long s) { return n == 0 ? s : nxp_sum(n - 1, s + 2 * n); }
FLICK_NXP static long nxp_sum(long n, long s) { return n == 0 ? s : nxp_other(n - 1, s + n); }

FLICK_HOST static long host_step(long n, long s);
FLICK_NXP static long nxp_step(long n, long s) {
  return n == 0 ? s : host_step(n - 1, s * 3 % 1009);
}
FLICK_HOST static long host_step(long n, long s) { return n == 0 ? s : nxp_step(n - 1, s + 7); }

FLICK_NXP static long via_pointer(next *f, long n, long s) { return f(n, s); }
FLICK_NXP static long shuffle(long a, long b, long c, next *f) { return f(c - a, b * 2); }
FLICK_HOST static long host_leaf(long a, long b) { return a * 100 + b; }
FLICK_NXP static long nxp_leaf(long a, long b) { return a * 1000 + b; }

int main(void) {
  printf("%ld %ld\n", nxp_sum(1000, 0), nxp_step(300, 5));
  printf("%ld %ld ", via_pointer(host_leaf, 3, 4), via_pointer(nxp_leaf, 3, 4));
  printf("%ld %ld\n", shuffle(1, 2, 30, host_leaf), shuffle(1, 2, 30, nxp_leaf));
}
