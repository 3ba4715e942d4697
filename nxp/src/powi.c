#include "alias.h"

/* Multiplications in the order of libgcc's, so that results round alike. */
#define POWI(name, type)                                                                           \
  type name(type x, int exponent) {                                                                \
    unsigned n = exponent < 0 ? -(unsigned)exponent : (unsigned)exponent;                          \
    type y = n % 2 != 0 ? x : 1;                                                                   \
    while ((n /= 2) != 0) {                                                                        \
      x *= x;                                                                                      \
      if (n % 2 != 0)                                                                              \
        y *= x;                                                                                    \
    }                                                                                              \
    return exponent < 0 ? 1 / y : y;                                                               \
  }                                                                                                \
  NXP_ALIAS(name);

POWI(__powidf2, double)
POWI(__powisf2, float)
