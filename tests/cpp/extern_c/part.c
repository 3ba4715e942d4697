#include "both.h"

int c_live;
FLICK_HOST int c_apply(int (*f)(int), int x) { return f(x) + 1; }
FLICK_NXP int c_nxp(int x) { return c_apply(c_uses_counter, x); }
FLICK_NXP int c_uses_counter(int x) {
  counter *c = counter_new(x);
  counter_add(c, 5);
  int r = counter_add(c, c_live);
  counter_delete(c);
  return r;
}
