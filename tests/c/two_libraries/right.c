#include "both.h"
#include <flick.h>

static long count;
FLICK_HOST static long mix(long x) { return x * 5 % 10009; }
FLICK_NXP long right(long x, int n, step *next) {
  count++;
  return n % 3 == 2 ? left(mix(x), n - 1, next) : n ? next(x + 1, n - 1) : mix(x);
}
FLICK_NXP long right_count(void) { return count * 1000 + left_count(); }
