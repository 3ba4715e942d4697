// Integers, floats and doubles mixed beyond the registers of both conventions, in both directions.
// Expects every argument in its place: each convention counts the two classes apart.
#include <flick.h>
#include <stdio.h>

typedef double mixed(int, double, float, long, double, char, float, double, short, double, long,
                     float, double, int, double, float, double, long, float, double);

FLICK_HOST static double host(int a, double b, float c, long d, double e, char f, float g, double h,
                              short i, double j, long k, float l, double m, int n, double o,
                              float p, double q, long r, float s, double t) {
  printf("%d %g %g %ld %g %d %g %g %d %g %ld %g %g %d %g %g %g %ld %g %g\n", a, b, (double)c, d, e,
         f, (double)g, h, i, j, k, (double)l, m, n, o, (double)p, q, r, (double)s, t);
  return (double)c + e * 2 + (double)s * 3 + t * 4;
}

FLICK_NXP static double nxp(int a, double b, float c, long d, double e, char f, float g, double h,
                            short i, double j, long k, float l, double m, int n, double o, float p,
                            double q, long r, float s, double t) {
  double x = a + b + (double)c + (double)d + e + f + (double)g + h + i + j;
  double y = (double)k + (double)l + m + n + o + (double)p + q + (double)r + (double)s + t;
  mixed *volatile again = host;
  return x + 1000 * y +
         again(n, m, l, k, j, (char)i, g, h, (short)n, o, r, p, q, a, t, s, b, d, c, e);
}

int main(void) {
  double v = nxp(-1, 2.5, 3.25f, -4, 5.125, 'f', 7.5f, -8.75, -9, 10.5, 1L << 40, 12.25f, 13.0, 14,
                 -15.5, 16.5f, 17.75, -18, 19.5f, 20.25);
  printf("%.17g\n", v);
}
