// Integers of more than 128 bits (_BitInt) from and to floating point, in NxP code; x86-64 has no
// functions for it either. Expects the host's results.
// ONLY: flick
// OUT: 0x1.23456789abcdfp+152 0x1.234568p+72 -0x1p+199
// OUT: 12345678 0 ffffffffffffffff
#include <flick.h>
#include <stdio.h>

typedef _BitInt(200) wide;
typedef unsigned _BitInt(200) natural;

static volatile double large = 0x1.2345678p+92;
static volatile unsigned long digits = 0x123456789abcdef0;

FLICK_NXP static void show(unsigned long x) {
  wide a = (wide)x << 92, lowest = (wide)1 << 198;
  lowest = -lowest - lowest;
  printf("%a %a %a\n", (double)a, (double)(float)(natural)(a >> 80), (double)lowest);
  wide b = (wide)large;
  printf("%lx %lx %lx\n", (long)(b >> 64), (long)b, (long)((wide)-large >> 64 >> 40));
}

int main(void) { show(digits); }
