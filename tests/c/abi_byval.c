// Structs of more than 16 bytes as arguments by value, in both directions, between other arguments.
// Expects the callee to get a copy: its writes do not reach the caller's object.
// OUT: 42477
// OUT: 1.5 -0.5 record 10 30
// OUT: 221
#include <flick.h>
#include <stdio.h>

typedef struct {
  int id;
  double x[3];
  char name[20];
} record;
typedef struct {
  long a, b, c;
} three;

FLICK_HOST static double host_use(int k, record r, double f, three t) {
  double v = k * (r.x[0] + r.x[1] + r.x[2]) + f + (double)(t.a - t.b + t.c) + r.name[0];
  r.x[0] = -1;
  t.a = -1;
  return v;
}

FLICK_NXP static double nxp_use(three t, int k, record r, double f) {
  double v = host_use(k + 1, r, f * 2, t);
  r.x[2] += 1;
  r.name[0]++;
  t.c *= 10;
  return v + host_use(k, r, f, t) * 100;
}

FLICK_NXP static long nxp_stack(int a, int b, int c, int d, int e, int f, int g, three t, int h) {
  return a + b + c + d + e + f + g * t.a + h * t.b - t.c;
}

int main(void) {
  record r = {3, {1.5, 2.5, -0.5}, "record"};
  three t = {10, 20, 30};
  printf("%.17g\n", nxp_use(t, 4, r, 0.25));
  printf("%g %g %s %ld %ld\n", r.x[0], r.x[2], r.name, t.a, t.c);
  printf("%ld\n", nxp_stack(1, 2, 3, 4, 5, 6, 7, t, 8));
}
