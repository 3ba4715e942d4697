// Sine and cosine of one number, without errno. Expects one call of `sincos` for both at -O2, as
// clang has it, also for float and where one of them is needed twice, and the same results.
// CFLAGS: -fno-math-errno
// LIBS: -lm
// CROSSINGS: host-to-nxp=10 nxp-to-host=10
// SKIP-MODE: O0 calls of the source stay as they are
#include <flick.h>
#include <math.h>
#include <stdio.h>

FLICK_NXP __attribute__((noinline)) double product(double x) { return sin(x) * cos(x); }
FLICK_NXP __attribute__((noinline)) float quotient(float x) { return cosf(x) / (sinf(x) + 2); }

int main(void) {
  double sum = 0;
  for (int i = 0; i < 5; i++)
    sum += product(i * 0.7) + (double)quotient((float)i);
  printf("%.17g\n", sum);
  return 0;
}
