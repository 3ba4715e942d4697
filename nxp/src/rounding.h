/* Rounding to integral values, on the bits of a number: nothing is computed in floating point, so
 * that no flag is raised but "invalid", by a signalling NaN. */
#ifndef NXP_ROUNDING_H
#define NXP_ROUNDING_H

#include "alias.h"

typedef union {
  double value;
  uint64_t bits;
} wide;
typedef union {
  float value;
  uint32_t bits;
} narrow;

/* Numbered as frm has them. */
enum rounding { TIES_TO_EVEN, TOWARD_ZERO, DOWN, UP, TIES_AWAY };

static inline enum rounding current_rounding(void) {
  unsigned long mode;
  __asm__ volatile("frrm %0" : "=r"(mode) : : "memory");
  return (enum rounding)mode;
}

/* x, which is no NaN and has so many bits of exponent and of fraction, as an integral number. */
static inline uint64_t integral(uint64_t x, unsigned exponent_bits, unsigned fraction_bits,
                                enum rounding how) {
  unsigned bias = (1u << (exponent_bits - 1)) - 1;
  uint64_t sign = x & (uint64_t)1 << (exponent_bits + fraction_bits);
  uint64_t size = x ^ sign;
  unsigned exponent = (unsigned)(size >> fraction_bits);
  if (exponent >= bias + fraction_bits)
    return x;
  if (exponent < bias) {
    uint64_t one = (uint64_t)bias << fraction_bits;
    uint64_t half = (uint64_t)(bias - 1) << fraction_bits;
    int away = how == DOWN           ? sign != 0 && size != 0
               : how == UP           ? sign == 0 && size != 0
               : how == TIES_AWAY    ? size >= half
               : how == TIES_TO_EVEN ? size > half
                                     : 0;
    return away ? sign | one : sign;
  }
  /* Adding to the fraction carries into the exponent where it must. */
  uint64_t unit = (uint64_t)1 << (bias + fraction_bits - exponent);
  if (how == (sign != 0 ? DOWN : UP))
    x += unit - 1;
  else if (how == TIES_AWAY)
    x += unit / 2;
  else if (how == TIES_TO_EVEN)
    x += unit / 2 - ((x & unit) == 0); /* of 1 the last bit is the exponent's, which is odd */
  return x & -unit;
}

static inline int is_nan(double x) { return ((wide){x}).bits << 1 > (uint64_t)0x7ff << 53; }
static inline int is_nanf(float x) { return ((narrow){x}).bits << 1 > (uint32_t)0xff << 24; }

/* A NaN keeps its payload. */
static inline double quiet(double x) {
  volatile double raises = x;
  raises = raises + raises;
  return ((wide){.bits = ((wide){x}).bits | (uint64_t)1 << 51}).value;
}
static inline float quietf(float x) {
  volatile float raises = x;
  raises = raises + raises;
  return ((narrow){.bits = ((narrow){x}).bits | (uint32_t)1 << 22}).value;
}

static inline double integral_double(double x, enum rounding how) {
  return is_nan(x) ? quiet(x) : ((wide){.bits = integral(((wide){x}).bits, 11, 52, how)}).value;
}
static inline float integral_float(float x, enum rounding how) {
  return is_nanf(x) ? quietf(x)
                    : ((narrow){.bits = (uint32_t)integral(((narrow){x}).bits, 8, 23, how)}).value;
}

/* The function NAME and its form for float. */
#define NXP_ROUNDING(NAME, HOW)                                                                    \
  double NAME(double x) { return integral_double(x, HOW); }                                        \
  NXP_ALIAS(NAME);                                                                                 \
  float NAME##f(float x) { return integral_float(x, HOW); }                                        \
  NXP_ALIAS(NAME##f)

#endif
