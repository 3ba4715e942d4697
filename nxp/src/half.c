#include "alias.h"
#include <stdint.h>

/* Half precision (binary16) and bfloat16. clang calls these with the narrow value in the low bits
 * of a floating-point register, which is how it passes _Float16 and __bf16. */
typedef union {
  _Float16 value;
  uint16_t bits;
} half;
typedef union {
  __bf16 value;
  uint16_t bits;
} brain;
typedef union {
  float value;
  uint32_t bits;
} single;
typedef union {
  double value;
  uint64_t bits;
} twice;

/* A signalling NaN raises `invalid` where its number is used; a NaN keeps its payload with us. */
static void use(double x) {
  volatile double used = x + x;
  (void)used;
}

float __extendhfsf2(_Float16 x) {
  uint32_t bits = ((half){x}).bits;
  uint32_t sign = (bits & 0x8000) << 16, exponent = bits >> 10 & 31, mantissa = bits & 0x3ff;
  if (exponent == 0) {
    float tiny = (float)mantissa * 0x1p-24f;
    return sign != 0 ? -tiny : tiny;
  }
  exponent = exponent == 31 ? 255 : exponent + 112;
  single wide = {.bits = sign | exponent << 23 | mantissa << 13};
  if (exponent == 255 && mantissa != 0) {
    use(wide.value);
    wide.bits |= 0x400000;
  }
  return wide.value;
}
NXP_ALIAS(__extendhfsf2);

/* The bits of x, not negative, whose value binary16 has. */
static uint16_t narrow(float x) {
  if (x < 0x1p-14f) /* a multiple of 2^-24 */
    return (uint16_t)(x * 0x1p24f);
  return (uint16_t)((((single){x}).bits >> 13) - (112 << 10));
}

static void underflow(void) {
  volatile float tiny = 0x1p-126f;
  tiny *= tiny;
}

/* Infinity or the largest number, as the rounding mode has it. */
static uint16_t overflow(int negative) {
  volatile float huge = negative ? -0x1p127f : 0x1p127f;
  float out = huge * 0x1p127f;
  return __builtin_isinf(out) ? 0x7c00 : 0x7bff;
}

static uint16_t truncate(double x) {
  twice u = {x};
  int exponent = (int)(u.bits >> 52 & 0x7ff) - 1023;
  uint16_t sign = (uint16_t)(u.bits >> 48 & 0x8000);
  if (exponent == 1024) {
    uint16_t payload = (uint16_t)(u.bits >> 42 & 0x3ff);
    if (u.bits << 12 == 0)
      return sign | 0x7c00;
    use(x);
    return sign | 0x7e00 | payload;
  }
  if (exponent <= 15) {
    /* The hardware rounds, in its current mode, and raises its flags: a number is added and taken
     * away whose last digit is the last one to keep, and of x's sign. */
    int last = (exponent < -14 ? -14 : exponent) - 10;
    twice large = {.bits = (uint64_t)(last + 52 + 1023) << 52 | (uint64_t)1 << 51};
    large.bits |= u.bits & (uint64_t)1 << 63;
    double rounded = (x + large.value) - large.value;
    if (rounded != x && exponent < -14)
      underflow();
    double magnitude = __builtin_fabs(rounded); /* rounding down, the difference of equals is -0 */
    if (magnitude < 65536)
      return sign | narrow((float)magnitude);
  }
  return sign | overflow(sign != 0);
}

_Float16 __truncdfhf2(double x) { return ((half){.bits = truncate(x)}).value; }
NXP_ALIAS(__truncdfhf2);

_Float16 __truncsfhf2(float x) { return ((half){.bits = truncate(x)}).value; }
NXP_ALIAS(__truncsfhf2);

/* bfloat16 is the upper half of binary32; to nearest, ties to even. */
__bf16 __truncsfbf2(float x) {
  uint32_t bits = ((single){x}).bits;
  if ((bits & 0x7fffffff) > 0x7f800000) {
    use(x);
    return ((brain){.bits = (uint16_t)(bits >> 16 | 0x40)}).value;
  }
  return ((brain){.bits = (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16)}).value;
}
NXP_ALIAS(__truncsfbf2);

__bf16 __truncdfbf2(double x) {
  single near = {(float)x};
  /* Rounded to odd, a second rounding does no harm. */
  if (near.value == near.value && (double)near.value != x && (near.bits & 1) == 0)
    near.bits += __builtin_fabs((double)near.value) > __builtin_fabs(x) ? -1u : 1u;
  return __truncsfbf2(near.value);
}
NXP_ALIAS(__truncdfbf2);
