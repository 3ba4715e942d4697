// Inline functions of a header, static and C99, used by NxP code of two units and by host code; a
// C99 inline one has its external definition in one of them, and a mark stands on a prototype.
#include "inlines.h"
#include <flick.h>
#include <stdio.h>

extern inline int clamp(int x, int lo, int hi);

FLICK_NXP static int here(int x) { return clamp(x, -5, 5) + next_id() * 100 + scaled(x); }

int main(void) {
  int (*volatile f)(int, int, int) = clamp;
  int a = here(9), b = there(-9), c = here(2);
  printf("%d %d %d\n", a, b, c);
  printf("%d %d %d\n", f(7, 0, 3), next_id(), there_id());
  printf("%d %d\n", there_address() == clamp, there(3));
}
