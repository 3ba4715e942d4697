// A struct of two doubles by value: argument and result in both directions, in registers.
// OUT: 1.5 2.25
// OUT: -1.1875 1.28125
#include <flick.h>
#include <stdio.h>

typedef struct {
  double re, im;
} point;

FLICK_HOST static point host_mul(point a, point b) {
  return (point){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
FLICK_NXP static point nxp_conj(point a) { return (point){a.re, -a.im}; }
FLICK_NXP static point nxp_power(point a, int n) {
  point r = {1, 0};
  while (n--)
    r = host_mul(r, a);
  return r;
}

int main(void) {
  point c = nxp_conj((point){1.5, -2.25});
  printf("%g %g\n", c.re, c.im);
  c = nxp_power((point){1, 0.5}, 5);
  printf("%g %g\n", c.re, c.im);
}
