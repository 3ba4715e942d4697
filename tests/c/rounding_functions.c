// Rounding to integral values where the code generator calls functions for it: in functions that
// are optimised for size, are cold, or obey the floating-point environment. Expects the host's
// results and flags in every rounding mode, and no crossing for any of it.
// SKIP-GCC: gcc folds calls under another rounding mode, and raises other flags
// CROSSINGS: host-to-nxp=12 nxp-to-host=42
// LIBS: -lm
// SKIP-VALGRIND: valgrind 3.19 does not round upwards and has no flags
#include <fenv.h>
#include <flick.h>
#include <math.h>
#include <stdio.h>

#define FUNCTIONS(EACH)                                                                            \
  EACH(ceil) EACH(floor) EACH(nearbyint) EACH(rint) EACH(round) EACH(roundeven) EACH(trunc)

static double inputs[] = {
    0.0,      -0.0,   0.5,          -0.5,        1.5,    -2.5,     0x1p-1074,
    1.75e9,   -2.3e9, 0x1p51 + 0.5, -0x1p52 - 1, 0x1p60, INFINITY, 0.49999999999999994,
    -3.999999};
enum { INPUTS = sizeof inputs / sizeof *inputs };

struct results {
  double wide[7][INPUTS];
  float narrow[7][INPUTS];
  float half[7][INPUTS];
};

#define WIDE(NAME) out->wide[at++][i] = __builtin_##NAME(x[i]);
#define NARROW(NAME) out->narrow[at++][i] = __builtin_##NAME##f((float)x[i]);
/* gcc has no library of these. */
#ifdef __clang__
#define F16(NAME) __builtin_##NAME##f16
#else
#define F16(NAME) __builtin_##NAME##f
#endif
#define HALF(NAME) out->half[at++][i] = (float)F16(NAME)((_Float16)x[i]);
/* There is no __builtin_nearbyintf16. */
#define HALF_FUNCTIONS(EACH)                                                                       \
  EACH(ceil) EACH(floor) EACH(rint) EACH(round) EACH(roundeven) EACH(trunc)

#define ALL(NAME, ATTRIBUTE)                                                                       \
  FLICK_NXP ATTRIBUTE __attribute__((noinline)) static void NAME(const double *x,                  \
                                                                 struct results *out) {            \
    for (int i = 0; i < INPUTS; i++) {                                                             \
      int at = 0;                                                                                  \
      FUNCTIONS(WIDE)                                                                              \
      at = 0;                                                                                      \
      FUNCTIONS(NARROW)                                                                            \
      at = 0;                                                                                      \
      HALF_FUNCTIONS(HALF)                                                                         \
    }                                                                                              \
  }

#ifdef __clang__
#define MINSIZE __attribute__((minsize))
#else
#define MINSIZE
#endif

ALL(cold, __attribute__((cold)))
ALL(small, MINSIZE)

/* Half precision has no form here. */
FLICK_NXP __attribute__((noinline)) static void strict(const double *x, struct results *out) {
#ifdef __clang__
#pragma STDC FENV_ACCESS ON
#endif
  for (int i = 0; i < INPUTS; i++) {
    int at = 0;
    FUNCTIONS(WIDE)
    at = 0;
    FUNCTIONS(NARROW)
  }
}

static void show(const char *what, void (*f)(const double *, struct results *)) {
  static struct results out;
  for (int i = 0; i < 7; i++)
    for (int j = 0; j < INPUTS; j++)
      out.half[i][j] = 0;
  f(inputs, &out);
  printf("%s\n", what);
  for (int i = 0; i < 7; i++)
    for (int j = 0; j < INPUTS; j++)
      printf("%a %a %a\n", out.wide[i][j], (double)out.narrow[i][j], (double)out.half[i][j]);
}

#define FLAGS(NAME)                                                                                \
  feclearexcept(FE_ALL_EXCEPT);                                                                    \
  x = __builtin_##NAME(wide);                                                                      \
  y = __builtin_##NAME##f(narrow);                                                                 \
  all = all << 1 | (fetestexcept(FE_INEXACT) != 0);

FLICK_NXP static unsigned inexact(void) {
#ifdef __clang__
#pragma STDC FENV_ACCESS ON
#endif
  volatile double wide = 1.5, x;
  volatile float narrow = 1.5f, y;
  unsigned all = 0;
  FUNCTIONS(FLAGS)
  (void)x;
  (void)y;
  return all;
}

int main(void) {
  static const int modes[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD};
  for (int i = 0; i < 3; i++) {
    fesetround(modes[i]);
    show("cold", cold);
    show("small", small);
    show("strict", strict);
    printf("%u\n", inexact());
  }
}
