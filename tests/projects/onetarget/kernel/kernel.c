#include "kernel.h"
#include <flick.h>

FLICK_NXP long kernel_sum(const long *values, int n) {
  long sum = 0;
  for (int i = 0; i < n; i++)
    sum += values[i];
  return sum;
}
