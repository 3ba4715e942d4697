// Two-register structs after the argument registers are used up: the whole struct goes to memory in
// the host's convention while the NxP's may split it. Both directions.
// OUT: -17171278537412
// OUT: 60.375
#include <flick.h>
#include <stdio.h>

typedef struct {
  long a, b;
} pair;
typedef struct {
  double x, y;
} point;

FLICK_HOST static long host_late(int a, int b, int c, int d, int e, pair p, int f, pair q) {
  return a + b + c + d + e * p.a + f * p.b + q.a * 100 - q.b;
}
FLICK_HOST static double host_points(double a, point p, double b, point q, double c, point r,
                                     point s) {
  return a + p.x * 2 - p.y + b * 3 + q.x - q.y * 5 + c + r.x * 7 + r.y - s.x * 11 + s.y;
}

FLICK_NXP static long nxp_late(int a, int b, int c, int d, int e, pair p, int f, pair q) {
  return host_late(f, e, d, c, b, q, a, p) * 1000 + a - b + c - d + e * p.a - f * p.b + q.a + q.b;
}
FLICK_NXP static double nxp_points(double a, point p, double b, point q, double c, point r,
                                   point s) {
  return host_points(c, s, b, r, a, q, p) + a * 2 + p.x - p.y * 3 + b - q.x * 5 + q.y + c * 7 -
         r.x + r.y * 9 + s.x * 13 - s.y;
}

int main(void) {
  pair p = {7, -9}, q = {1L << 33, 5};
  printf("%ld\n", nxp_late(1, -2, 3, -4, 5, p, -6, q));
  point a = {1.5, 2}, b = {-3, 4.25}, c = {5, 6}, d = {0.125, -8};
  printf("%.17g\n", nxp_points(1, a, 2, b, 3, c, d));
}
