/* Prints the results of rounding to integral values and the flags that it raises, in every rounding
 * mode. The output is compared with the host's, which its C library makes. */
#include "bare.h"
#include "modes.h"

#define FUNCTIONS(EACH)                                                                            \
  EACH(ceil) EACH(floor) EACH(nearbyint) EACH(rint) EACH(round) EACH(roundeven) EACH(trunc)

#define DECLARE(NAME)                                                                              \
  double NAME(double);                                                                             \
  float NAME##f(float);
FUNCTIONS(DECLARE)

typedef union {
  double value;
  uint64_t bits;
} wide;
typedef union {
  float value;
  uint32_t bits;
} narrow;

static void show(uint64_t value, unsigned flags) {
  char text[20];
  for (int i = 15; i >= 0; i--, value >>= 4)
    text[i] = "0123456789abcdef"[value & 15];
  text[16] = ' ';
  text[17] = (char)('0' + flags / 10);
  text[18] = (char)('0' + flags % 10);
  text[19] = '\n';
  print(text, sizeof text);
}

/* Through pointers, so that no compiler knows which function it is. */
static void both(double (*volatile function)(double), float (*volatile functionf)(float), wide x,
                 narrow y) {
  clear_flags();
  x.value = function(x.value);
  unsigned flags = raised_flags();
  show(x.bits, flags);
  clear_flags();
  y.value = functionf(y.value);
  flags = raised_flags();
  show(y.bits, flags);
}

/* A number whose fraction begins in any of its digits or behind them, or has few. */
static wide operand(unsigned i) {
  static const uint64_t edges[] = {0,
                                   1,
                                   0x7ff0000000000000, /* infinity */
                                   0x7ff4000000000001, /* a signalling NaN */
                                   0x7ff8000000000123, /* a quiet one */
                                   0x3fe0000000000000, /* 0.5 and what is next to it */
                                   0x3fdfffffffffffff,
                                   0x3fe0000000000001,
                                   0x3fefffffffffffff,
                                   0x432fffffffffffff, /* the largest with a fraction */
                                   0x4330000000000000,
                                   0x4330000000000001};
  enum { N = sizeof edges / sizeof *edges };
  if (i < 2 * N)
    return (wide){.bits = edges[i / 2] | (uint64_t)(i % 2) << 63};
  uint64_t r = random64();
  uint64_t bits = (r & ~((uint64_t)0x7ff << 52)) | (1023 - 3 + r / 7 % 60) << 52;
  return (wide){.bits = i % 3 == 0 ? bits : bits & -((uint64_t)1 << (r / 11 % 52))};
}
static narrow operandf(unsigned i) {
  static const uint32_t edges[] = {0,          1,          0x7f800000, 0x7fa00001,
                                   0x7fc00123, 0x3f000000, 0x3effffff, 0x3f000001,
                                   0x3f7fffff, 0x4affffff, 0x4b000000, 0x4b000001};
  enum { N = sizeof edges / sizeof *edges };
  if (i < 2 * N)
    return (narrow){.bits = edges[i / 2] | (uint32_t)(i % 2) << 31};
  uint64_t r = random64();
  uint32_t bits = ((uint32_t)r & 0x807fffff) | (uint32_t)(127 - 3 + r / 7 % 30) << 23;
  return (narrow){.bits = i % 3 == 0 ? bits : bits & -((uint32_t)1 << (r / 11 % 23))};
}

int main(void) {
  for (unsigned mode = 0; mode < 4; mode++) {
    set_rounding(mode);
    for (unsigned i = 0; i < 800; i++) {
      wide x = operand(i);
      narrow y = operandf(i);
#define SHOW(NAME) both(NAME, NAME##f, x, y);
      FUNCTIONS(SHOW)
    }
  }
  set_rounding(0);
  return 0;
}
