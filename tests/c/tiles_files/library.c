#include "tiles.h"

FLICK_NXP_ON("compute") static long inner(long x) { return x - 1; }
FLICK_NXP_ON("storage") long in_library(long x) {
  long sum = 0;
  for (int i = 0; i < 10; i++)
    sum += inner(x + 1);
  return sum;
}
