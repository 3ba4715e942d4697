#include "both.h"
#include <flick.h>

static long count;
FLICK_NXP static long mix(long x) { return x * 3 % 10007; }
FLICK_NXP long left(long x, int n, step *next) {
  count++;
  return n ? next(mix(x), n - 1) : x;
}
FLICK_HOST long left_count(void) { return count; }
