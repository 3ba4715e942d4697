// A host and an NxP function that call each other. Expects the same value as on one side and one
// crossing for every call.
// OUT: 1 0 0 1
// OUT: 5050 100
// CROSSINGS: host-to-nxp=65 nxp-to-host=62
#include <flick.h>
#include <stdio.h>

FLICK_NXP int is_even(unsigned n);
FLICK_HOST int is_odd(unsigned n) { return n == 0 ? 0 : is_even(n - 1); }
FLICK_NXP int is_even(unsigned n) { return n == 0 ? 1 : is_odd(n - 1); }

static int depth;
FLICK_HOST int down_host(int n);
FLICK_NXP int down_nxp(int n) {
  depth++;
  return n == 0 ? 0 : n + down_host(n - 1);
}
FLICK_HOST int down_host(int n) {
  depth++;
  return n == 0 ? 0 : n + down_nxp(n - 1);
}

int main(void) {
  printf("%d %d ", is_even(10), is_even(7));
  printf("%d %d\n", is_even(1), is_even(4));
  int sum = down_nxp(100);
  printf("%d %d\n", sum, depth - 1);
}
