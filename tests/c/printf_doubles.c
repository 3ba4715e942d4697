// printf called by NxP code with doubles and promoted floats: zeros, infinities, denormals, long
// fractions. Expects the host's text.
#include <flick.h>
#include <float.h>
#include <math.h>
#include <stdio.h>

FLICK_NXP static void show(double d, float f) {
  printf("%g %e %.3f %a | %g %a\n", d, d, d, d, (double)f, (double)f);
  printf("%8.3f|%-10.2e|%+g|%s|%.17g\n", d, d, d, "between", (double)f);
}

static volatile double values[] = {0.0, -0.0, 1.0 / 3, -DBL_MAX, 5e-324, INFINITY};

int main(void) {
  for (int i = 0; i < 6; i++)
    show(values[i], (float)values[i]);
}
