// Static locals of NxP, both-sided and host functions keep their values; the one of a function
// compiled for both sides is one object.
// OUT: 1 2 3
// OUT: 11 12 13 14
// OUT: 1 2 3
#include <flick.h>
#include <stdio.h>

FLICK_NXP static int next_nxp(void) {
  static int n;
  return ++n;
}
FLICK_BOTH static int next_both(void) {
  static int n = 10;
  return ++n;
}
FLICK_NXP static int call_both(void) { return next_both(); }
FLICK_HOST static int next_host(void) {
  static int n;
  return ++n;
}
FLICK_NXP static int call_host(void) { return next_host(); }

int main(void) {
  int a = next_nxp(), b = next_nxp(), c = next_nxp();
  printf("%d %d %d\n", a, b, c);
  a = next_both(), b = call_both(), c = next_both();
  printf("%d %d %d %d\n", a, b, c, call_both());
  a = call_host(), b = next_host(), c = call_host();
  printf("%d %d %d\n", a, b, c);
}
