// Two shared libraries with images and a program with one, which call back and forth among each
// other on both sides; both libraries have a static function and a variable of the same name.
// SKIP-MODE: static a static program has no shared library
// STEP: cc -shared -fPIC left.c -o libleft.so
// STEP: cc -shared -fPIC right.c -L. -lleft -Wl,-rpath,$ORIGIN -o libright.so
// STEP: link main.c -L. -lright -lleft -Wl,-rpath,$ORIGIN
#include "both.h"
#include <flick.h>
#include <stdio.h>

FLICK_NXP static long program_nxp(long x, int n) {
  return n ? right(x + 1, n - 1, program_nxp) : x;
}
FLICK_HOST static long program_host(long x, int n) {
  return n ? left(x + 2, n - 1, program_host) : x;
}

int main(void) {
  printf("%ld %ld\n", left(1, 20, program_nxp), right(1, 20, program_host));
  printf("%ld %ld\n", program_nxp(3, 30), program_host(3, 30));
  long l = left_count(), r = right_count();
  printf("%ld %ld\n", l, r);
}
