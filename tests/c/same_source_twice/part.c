#include "flick.h"

extern int total;

FLICK_NXP __attribute__((noinline)) static int scale(int x) { return x * FACTOR; }
static void __attribute__((constructor)) add(void) { total += scale(10); }
