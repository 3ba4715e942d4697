#include "rounding.h"

/* The hardware rounds, in its current mode, and raises "inexact": a number whose last digit is 1 is
 * added and taken away. The sign is kept, that of zero too. FORM: "f", or nothing for double. */
#define RINT(TYPE, FORM, LAST_DIGIT_IS_1)                                                          \
  TYPE rint##FORM(TYPE x) {                                                                        \
    if (is_nan##FORM(x))                                                                           \
      return quiet##FORM(x);                                                                       \
    if (__builtin_fabs##FORM(x) >= LAST_DIGIT_IS_1)                                                \
      return x;                                                                                    \
    TYPE large = __builtin_copysign##FORM(LAST_DIGIT_IS_1, x);                                     \
    TYPE sum = x + large;                                                                          \
    return __builtin_copysign##FORM(sum - large, x);                                               \
  }                                                                                                \
  NXP_ALIAS(rint##FORM)

RINT(double, , 0x1p52);
RINT(float, f, 0x1p23f);
