// As many arguments as both sides have registers for, each of which counts: six integers, eight
// doubles, both; two results of each kind; called from either side.
// OUT: 654321 87654321.5
// OUT: 654321 87654321.5
// OUT: 3 4 0.25 -0.5
// OUT: 3 4 0.25 -0.5
// CROSSINGS: host-to-nxp=5 nxp-to-host=4
#include <complex.h>
#include <flick.h>
#include <stdio.h>

struct pair {
  long first, second;
};

static long digits(long a, long b, long c, long d, long e, long f) {
  return a + 10 * b + 100 * c + 1000 * d + 10000 * e + 100000 * f;
}
static double fractions(double a, double b, double c, double d, double e, double f, double g,
                        double h) {
  return a + 10 * b + 100 * c + 1e3 * d + 1e4 * e + 1e5 * f + 1e6 * g + 1e7 * h;
}

#define FUNCTIONS(side, mark)                                                                      \
  mark static long ints_##side(long a, long b, long c, long d, long e, long f) {                   \
    return digits(a, b, c, d, e, f);                                                               \
  }                                                                                                \
  mark static double all_##side(long a, double p, long b, double q, long c, double r, long d,      \
                                double s, long e, double t, long f, double u, double v,            \
                                double w) {                                                        \
    return fractions(p, q, r, s, t, u, v, w) + 0.5 * (digits(a, b, c, d, e, f) == 654321);         \
  }                                                                                                \
  mark static struct pair ints_of_##side(long a) { return (struct pair){a + 1, a + 2}; }           \
  mark static double _Complex doubles_of_##side(double a) { return a / 2 - a * I; }

FUNCTIONS(host, FLICK_HOST)
FUNCTIONS(nxp, FLICK_NXP)

#define CALLS(side)                                                                                \
  do {                                                                                             \
    long n = ints_##side(1, 2, 3, 4, 5, 6);                                                        \
    double x = all_##side(1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 8);                               \
    shown[0] = n, shown[1] = x;                                                                    \
    struct pair p = ints_of_##side(2);                                                             \
    double _Complex z = doubles_of_##side(0.5);                                                    \
    shown[2] = p.first, shown[3] = p.second, shown[4] = creal(z), shown[5] = cimag(z);             \
  } while (0)

static double shown[6], on_nxp[6];

FLICK_NXP static void from_nxp(void) { CALLS(host); }

int main(void) {
  CALLS(nxp);
  for (int i = 0; i < 6; i++)
    on_nxp[i] = shown[i];
  from_nxp();
  printf("%.0f %.1f\n%.0f %.1f\n", on_nxp[0], on_nxp[1], shown[0], shown[1]);
  printf("%g %g %g %g\n", on_nxp[2], on_nxp[3], on_nxp[4], on_nxp[5]);
  printf("%g %g %g %g\n", shown[2], shown[3], shown[4], shown[5]);
}
