// NxP code chooses a rounding mode that the host does not have (RMM, to nearest, ties to max
// magnitude). Leaves that the host calls afterwards round by it, those of this thread and of code that
// was called before, too.
// OUT: before: 0x1p+53 0x1p+53
// OUT: in RMM: 0x1.0000000000001p+53 0x1.0000000000001p+53 0x1.0000000000001p+53
// OUT: after: 0x1p+53 0x1p+53
// ONLY: flick
// SKIP-RANDOM: the mode is the NxP's
// LIBS: -lm
#include <flick.h>
#include <stdio.h>

#define SEPARATE __attribute__((noinline))

FLICK_NXP SEPARATE static double sum(double a, double b) { return a + b; }
