#include <flick.h>

FLICK_NXP long sum(const int *values, int count) {
  long total = 0;
  for (int i = 0; i < count; i++)
    total += values[i];
  return total;
}
