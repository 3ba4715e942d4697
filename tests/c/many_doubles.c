// Twelve double arguments in both directions: eight in registers, the rest on the stack. Expects
// every one in its place.
// OUT: -16777.98583984375
// OUT: 160156281933.31247
#include <flick.h>
#include <stdio.h>

FLICK_HOST static double host12(double a, double b, double c, double d, double e, double f,
                                double g, double h, double i, double j, double k, double l) {
  return a + 2 * b + 4 * c + 8 * d + 16 * e + 32 * f + 64 * g + 128 * h + 256 * i + 512 * j +
         1024 * k + 2048 * l;
}

FLICK_NXP static double nxp12(double a, double b, double c, double d, double e, double f, double g,
                              double h, double i, double j, double k, double l) {
  double back = host12(l, k, j, i, h, g, f, e, d, c, b, a);
  return a - 2 * b + 4 * c - 8 * d + 16 * e - 32 * f + 64 * g - 128 * h + 256 * i - 512 * j +
         1024 * k - 2048 * l + back * 0.0001220703125;
}

int main(void) {
  printf("%.17g\n", nxp12(1, 2, 3, 4.5, 5, 6, 7, 8, 9.25, 10, 11, 12));
  printf("%.17g\n", nxp12(-1, 0.5, 0, 0, 1e10, -0.0, 3, 0, 0, 1e-3, 7, -12));
}
