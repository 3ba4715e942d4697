// Structs of a long and a double, in both orders, by value: argument and result in both directions,
// one integer and one floating-point register.
// OUT: -6 2.75
// OUT: -30 -4.5
#include <flick.h>
#include <stdio.h>

typedef struct {
  long n;
  double x;
} tagged;
typedef struct {
  double x;
  int n;
} weighted;

FLICK_HOST static tagged host_tag(weighted w) { return (tagged){w.n, w.x}; }
FLICK_HOST static weighted host_weigh(tagged t) { return (weighted){t.x, (int)t.n}; }
FLICK_NXP static weighted nxp_weigh(tagged t) { return (weighted){t.x + 0.5, (int)t.n + 1}; }
FLICK_NXP static tagged nxp_round(tagged a, tagged b) {
  weighted w = host_weigh((tagged){a.n + b.n, a.x * b.x});
  w.n *= 2;
  tagged t = host_tag(w);
  t.x = -t.x;
  return t;
}

int main(void) {
  weighted w = nxp_weigh((tagged){-7, 2.25});
  printf("%d %g\n", w.n, w.x);
  tagged t = nxp_round((tagged){5, 1.5}, (tagged){-20, 3});
  printf("%ld %g\n", t.n, t.x);
}
