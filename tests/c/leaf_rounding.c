// NxP code chooses a rounding mode that the host's hardware does not have (RMM: to nearest, ties to
// max magnitude). From then on, leaves that the host calls round by it, by pointer, too. Expects
// the rounding modes of the host in leaves as in other NxP code.
// OUT: nearest 0x1p+53 0x1p+53
// OUT: upward 0x1.0000000000001p+53 0x1.0000000000001p+53
// OUT: max magnitude 0x1.0000000000001p+53 0x1.0000000000001p+53
// OUT: nearest 0x1p+53 0x1p+53
// ONLY: flick
// LIBS: -lm
// SKIP-RANDOM: the mode is the NxP's
// SKIP-VALGRIND: valgrind 3.19 does not round upwards
#include <fenv.h>
#include <flick.h>
#include <stdio.h>

#define SEPARATE __attribute__((noinline))

FLICK_NXP SEPARATE static double sum(double a, double b) { return a + b; }
FLICK_NXP SEPARATE static void choose(int mode) { __builtin_set_flt_rounds(mode); }

static double (*volatile by_pointer)(double, double) = sum;

static void show(const char *name) {
  printf("%s %a %a\n", name, sum(0x1p53, 1), by_pointer(0x1p53, 1));
}

int main(void) {
  show("nearest");
  fesetround(FE_UPWARD);
  show("upward");
  fesetround(FE_TONEAREST);
  choose(4);
  show("max magnitude");
  choose(1);
  show("nearest");
}
