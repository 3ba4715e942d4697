// a*b+c in NxP code: RV64 has a fused multiply-add, the host compile does not use one. Expects the
// host's bits, and the fused result only where fma() asks for it.
// OUT: 0x0p+0 0x0p+0 0x0p+0
// OUT: -0x1p-60 0x1p-26
// OUT: 0x1.ed482546a4953p-2
// LIBS: -lm
#include <flick.h>
#include <math.h>
#include <stdio.h>

FLICK_NXP static double plain(double a, double b, double c) { return a * b + c; }
FLICK_NXP static double minus(double a, double b, double c) { return c - a * b; }
FLICK_NXP static float single(float a, float b, float c) { return a * b - c; }
FLICK_NXP static double fused(double a, double b, double c) { return fma(a, b, c); }
FLICK_NXP static float fusedf(float a, float b, float c) { return fmaf(a, b, c); }
FLICK_NXP static double dot(const double *x, const double *y, int n) {
  double s = 0;
  for (int i = 0; i < n; i++)
    s += x[i] * y[i];
  return s;
}

static volatile double a = 1 + 0x1p-30, b = 1 - 0x1p-30, c = -1;
static volatile float tenth = 0.1f, ten = 10, one = 1;

int main(void) {
  printf("%a %a %a\n", plain(a, b, c), minus(a, b, -c), (double)single(tenth, ten, one));
  printf("%a %a\n", fused(a, b, c), (double)fusedf(tenth, ten, -one));
  double x[100], y[100];
  for (int i = 0; i < 100; i++)
    x[i] = 1.0 / (i + 1), y[i] = (i % 2 ? -1 : 1) * (a + i * 0.3);
  printf("%a\n", dot(x, y, 100));
}
