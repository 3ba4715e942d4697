#include "rounding.h"

/* The hardware rounds, in its current mode, and raises "inexact": a number whose last digit is 1 is
 * added and taken away. The sign is kept, that of zero too. */
double rint(double x) {
  if (is_nan(x))
    return quiet(x);
  if (__builtin_fabs(x) >= 0x1p52)
    return x;
  double large = __builtin_copysign(0x1p52, x);
  double sum = x + large;
  return __builtin_copysign(sum - large, x);
}
NXP_ALIAS(rint);

float rintf(float x) {
  if (is_nanf(x))
    return quietf(x);
  if (__builtin_fabsf(x) >= 0x1p23f)
    return x;
  float large = __builtin_copysignf(0x1p23f, x);
  float sum = x + large;
  return __builtin_copysignf(sum - large, x);
}
NXP_ALIAS(rintf);
