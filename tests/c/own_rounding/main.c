// Functions of the program's own under names that the code generator calls by itself: host code,
// NxP code and wrappers. Expects NxP code to call them as host code does, and right results.
// STEP: link main.c own.c -Wl,--wrap=trunc,--wrap=truncf
// CROSSINGS: host-to-nxp>=4
// CFLAGS: -Os
// LIBS: -lm
#include "flick.h"
#include <math.h>
#include <stdio.h>

extern int own_floors, own_ceils, own_rounds, own_truncs;

/* No compiler knows these for what they are. */
extern float direct_floorf(float) __asm__("floorf");
extern float direct_roundf(float) __asm__("roundf");
extern float direct_rintf(float) __asm__("rintf");
extern float direct_truncf(float) __asm__("truncf");

static volatile double x = 2.75;
static volatile float y = -3.5f;

/* Optimised for size, where RV64 has no instructions for them. */
FLICK_NXP __attribute__((cold, noinline)) static double calls(void) {
  float narrow = floorf(y) + roundf(y) * 16 + truncf(y) * 256 + rintf(y) * 4096;
  double wide = ceil(x) + trunc(x) * 16 + floor(x) * 256;
  return narrow + wide * 65536;
}

FLICK_NXP __attribute__((noinline)) static float direct(void) {
  return direct_floorf(y) + direct_roundf(y) * 16 + direct_truncf(y) * 256 + direct_rintf(y) * 4096;
}

FLICK_NXP __attribute__((noinline)) static float through(float (*volatile f)(float)) {
  return f(y);
}

int main(void) {
  printf("%a\n", calls());
  printf("%a\n", (double)direct());
  printf("%a %a\n", (double)through(floorf), (double)through(rintf));
  printf("%d %d %d %d\n", own_floors, own_ceils, own_rounds, own_truncs);
}
