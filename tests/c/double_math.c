// Double arithmetic and mathematical functions in NxP code; some are instructions of RV64, the rest
// are the host's. Expects the host's results, bit for bit.
// LIBS: -lm
#include <flick.h>
#include <math.h>
#include <stdio.h>

FLICK_NXP static void basics(double x, double y) {
  printf("%a %a %a %a\n", x + y, x - y, x * y, x / y);
  printf("%a %a %a %a\n", sqrt(fabs(x)), fmin(x, y), fmax(x, y), copysign(x, y));
  printf("%a %a %a %a\n", floor(x), ceil(x), trunc(x), rint(x));
  printf("%a %a %ld %ld\n", round(x), fmod(x, y), lrint(y), lround(x));
  printf("%a %d %d %d\n", fma(x, y, 0.1), x < y, isnan(x) != 0, signbit(y) != 0);
}

FLICK_NXP static void library(double x) {
  int exponent;
  double whole;
  double fraction = frexp(x, &exponent);
  double part = modf(x, &whole);
  printf("%a %d %a %a\n", fraction, exponent, part, whole);
  printf("%a %a %a\n", sin(x), exp(x), log(fabs(x) + 1));
  printf("%a %a %a\n", pow(fabs(x), 1.5), atan2(x, 3), hypot(x, 4));
  printf("%a %a\n", ldexp(x, 7), cbrt(x));
}

static volatile double inputs[] = {2.5, -3.75, 1e-310, -1234567.5, 0.1};

int main(void) {
  for (int i = 0; i < 5; i++) {
    basics(inputs[i], inputs[(i + 1) % 5]);
    library(inputs[i]);
  }
}
