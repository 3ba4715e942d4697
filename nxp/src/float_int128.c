#include "int128.h"

/* 128-bit integers to floating point: the number is cut to 63 bits with the last one sticky, which
 * the hardware conversion then rounds once, in the current mode; scaling is exact. */
static inline int excess(u128 a) { return a >> 63 == 0 ? 0 : 65 - leading_zeros(a); }
static inline int64_t cut(u128 a, int excess) {
  return low(a >> excess) | ((a & (((u128)1 << excess) - 1)) != 0);
}
static inline double power_of_two(int n) {
  union {
    uint64_t bits;
    double value;
  } u = {(uint64_t)(1023 + n) << 52};
  return u.value;
}

/* A float is scaled as one, so that an overflow rounds in the current mode too. */
#define FROM_UNSIGNED(name, type)                                                                  \
  type name(u128 a) {                                                                              \
    int n = excess(a);                                                                             \
    return (type)cut(a, n) * (type)power_of_two(n);                                                \
  }                                                                                                \
  NXP_ALIAS(name);
#define FROM_SIGNED(name, type)                                                                    \
  type name(i128 a) {                                                                              \
    int n = excess(magnitude(a));                                                                  \
    int64_t m = cut(magnitude(a), n);                                                              \
    return (type)(a < 0 ? -m : m) * (type)power_of_two(n);                                         \
  }                                                                                                \
  NXP_ALIAS(name);

FROM_UNSIGNED(__floatuntidf, double)
FROM_UNSIGNED(__floatuntisf, float)
FROM_SIGNED(__floattidf, double)
FROM_SIGNED(__floattisf, float)

/* Floating point to 128-bit integers; saturating, as RV64's own conversions do. */
static inline u128 to_unsigned(double x) {
  union {
    double value;
    uint64_t bits;
  } u = {x};
  int exponent = (int)(u.bits >> 52 & 0x7ff) - 1023;
  uint64_t mantissa = (u.bits & (((uint64_t)1 << 52) - 1)) | (uint64_t)1 << 52;
  return (u128)mantissa << (exponent - 52);
}

i128 __fixdfti(double x) {
  const i128 max = ~((i128)1 << 127);
  if (__builtin_fabs(x) < 0x1p63)
    return (int64_t)x;
  if (__builtin_fabs(x) < 0x1p127) {
    u128 m = to_unsigned(__builtin_fabs(x));
    return x < 0 ? -m : m;
  }
  return x < 0 ? ~max : max;
}
NXP_ALIAS(__fixdfti);

u128 __fixunsdfti(double x) {
  if (x < 0x1p63)
    return x <= -1 ? 0 : (u128)(int64_t)x;
  return x < 0x1p128 ? to_unsigned(x) : ~(u128)0;
}
NXP_ALIAS(__fixunsdfti);

i128 __fixsfti(float x) { return __fixdfti(x); }
NXP_ALIAS(__fixsfti);

u128 __fixunssfti(float x) { return __fixunsdfti(x); }
NXP_ALIAS(__fixunssfti);
