// Conversions between integers and floating point, and floor and its kin, at the edges of their
// ranges and half-way between results, under every rounding mode. The flags too, where C and x86-64
// agree on them. Expects what plain clang's program prints.
// LIBS: -lm
// SKIP-VALGRIND: valgrind 3.19 has no flags
// CROSSINGS: host-to-nxp>=100
#ifndef __clang__
#pragma GCC optimize("rounding-math")
#endif
#include <fenv.h>
#include <flick.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>

static const int modes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
static volatile double real;
static volatile float single;
static volatile uint64_t whole;

static void flags(void) {
  printf("%s%s\n", fetestexcept(FE_INEXACT) ? " x" : "", fetestexcept(FE_INVALID) ? " v" : "");
  feclearexcept(FE_ALL_EXCEPT);
}

FLICK_NXP static void integers_of_doubles(void) {
  double x = real;
  if (fabs(x) < 2147483647)
    printf(" %d %d %d %d", (int)x, (int)floor(x), (int)ceil(x), (int)round(x));
  if (fabs(x) < 9.2e18)
    printf(" %ld %ld %ld %ld %ld", (long)x, lrint(x), lround(x), (long)floor(x), (long)ceil(x));
  if (x > -1 && x < 4294967296)
    printf(" %u", (unsigned)x);
  if (x > -1 && x < 18446744073709551616.0)
    printf(" %lu", (unsigned long)x);
  if (x >= 0 && x <= 4294967295)
    printf(" %u %u %u", (unsigned)floor(x), (unsigned)ceil(x), (unsigned)rint(x));
  puts("");
}

FLICK_NXP static void integers_of_singles(void) {
  float x = single;
  if (fabsf(x) < 2147483520)
    printf(" %d %d %d %d", (int)x, (int)floorf(x), (int)ceilf(x), (int)roundf(x));
  if (fabsf(x) < 9.2e18f)
    printf(" %ld %ld %ld", (long)x, lrintf(x), lroundf(x));
  if (x > -1 && x < 4294967296)
    printf(" %u", (unsigned)x);
  if (x > -1 && x < 18446744073709551616.0f)
    printf(" %lu", (unsigned long)x);
  puts("");
}

// In other modes than to nearest the sign of a zero is not asked: gcc's own code makes floor(0) -0
// then.
#define SHOW(f)                                                                                    \
  do {                                                                                             \
    __typeof__(f) value = f;                                                                       \
    if (value != value)                                                                            \
      printf(" nan");                                                                              \
    else                                                                                           \
      printf(" %a", value == 0 && fegetround() != FE_TONEAREST ? 0 : value);                       \
  } while (0)

FLICK_NXP static void whole_numbers(void) {
  double x = real;
  SHOW(floor(x));
  SHOW(ceil(x));
  SHOW(trunc(x));
  SHOW(round(x));
  SHOW(rint(x));
  SHOW(nearbyint(x));
  float y = single;
  SHOW(floorf(y));
  SHOW(ceilf(y));
  SHOW(truncf(y));
  SHOW(roundf(y));
  SHOW(rintf(y));
  SHOW(nearbyintf(y));
  puts("");
}

FLICK_NXP static void floats_of_integers(void) {
  printf(" %a", (double)(int)whole);
  flags();
  printf(" %a", (double)(unsigned)whole);
  flags();
  printf(" %a", (double)(long)whole);
  flags();
  printf(" %a", (float)(int)whole);
  flags();
  printf(" %a", (float)(unsigned)whole);
  flags();
  printf(" %a", (float)(long)whole);
  flags();
  printf(" %a", (float)(unsigned long)whole);
  flags();
}

// In other modes than to nearest plain clang's own code for x86-64 may be an ulp off, or give -0
// for 0.
FLICK_NXP static void doubles_of_unsigned(void) { printf(" %a\n", (double)(unsigned long)whole); }

FLICK_NXP static void narrowed(void) {
  SHOW((float)real);
  flags();
}

FLICK_NXP static void flags_of_casts(void) {
  double x = real;
  printf(" %d", (int)x);
  flags();
  printf(" %ld", lrint(x));
  flags();
}

int main(void) {
  static const double ends[] = {
      0,      1,      3,      1L << 23, 1L << 24, 1L << 31,   1L << 32,   1e10,  0x1p51,   0x1p52,
      0x1p53, 0x1p62, 0x1p63, 0x1p64,   1e19,     4294967295, 2147483647, 1e300, INFINITY, NAN};
  static const double more[] = {0, 0.25, 0.5, 0.75, -0.25, -0.5, -0.75, 0x1p-1074, 1};
  static const uint64_t bits[] = {0,        1,         1UL << 24, (1UL << 24) + 1, (1UL << 25) - 1,
                                  1L << 31, 1UL << 53, ~0UL,      1UL << 63};
  for (unsigned m = 0; m < sizeof modes / sizeof *modes; m++) {
    fesetround(modes[m]);
    printf("mode %u\n", m);
    for (unsigned i = 0; i < sizeof ends / sizeof *ends; i++)
      for (unsigned k = 0; k < sizeof more / sizeof *more; k++)
        for (int sign = 1; sign >= -1; sign -= 2) {
          real = sign * (ends[i] + more[k]);
          single = (float)(sign * (ends[i] + more[k]));
          integers_of_doubles();
          integers_of_singles();
          whole_numbers();
          feclearexcept(FE_ALL_EXCEPT);
          narrowed();
          if (fabs(real) < 2e9)
            flags_of_casts();
        }
    for (unsigned i = 0; i < sizeof bits / sizeof *bits; i++)
      for (unsigned k = 0; k < 12; k++)
        for (int sign = 0; sign < 2; sign++) {
          whole = bits[i] + (k % 4 - 1) * (1UL << k / 4 * 7);
          whole = sign ? -whole : whole;
          feclearexcept(FE_ALL_EXCEPT);
          floats_of_integers();
          if (m == 0)
            doubles_of_unsigned();
        }
  }
}
