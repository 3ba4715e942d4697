#include "variables.h"
#include <flick.h>

int numbers[3] = {10, 20, 30};
FLICK_NXP_DATA int near_numbers[3] = {1, 2, 3};
const char *const words[] = {"alpha", "beta", "gamma"};
_Thread_local int per_thread = 5;

FLICK_NXP int other_work(int k) {
  shared.b *= 2;
  per_thread++;
  shared.a += near_numbers[k] & 1;
  return per_thread * 100 + tentative;
}
