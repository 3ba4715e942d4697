// A FLICK_BOTH function called by name and through a pointer from both sides: it never crosses, has
// one address, and works on the same data.
// OUT: 1180 1180 1 80
// CROSSINGS: host-to-nxp=2 nxp-to-host=0
#include <flick.h>
#include <stdio.h>

static int calls;
FLICK_BOTH static int both(int x) {
  calls++;
  return x * x + 1;
}
FLICK_BOTH int exported(int (*f)(int), int x) { return f(x) + both(x); }

FLICK_NXP static int on_nxp(int (*f)(int), int n) {
  int s = 0;
  for (int i = 0; i < n; i++)
    s += both(i) + f(i) + exported(both, i);
  return s;
}
FLICK_NXP static int same(int (*f)(int)) { return f == both; }

int main(void) {
  int (*volatile f)(int) = both;
  int here = 0;
  for (int i = 0; i < 10; i++)
    here += both(i) + f(i) + exported(f, i);
  int there = on_nxp(f, 10), equal = same(f);
  printf("%d %d %d %d\n", here, there, equal, calls);
}
