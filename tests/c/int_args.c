// Integers of every width and sign as arguments of an NxP function, passed from wider values whose
// upper bits are not zero. Expects each to arrive as C converts it.
// OUT: 0 0 0 0 0 0 1311768464867721216 1311768464867721216 0 1
// OUT: -128 128 128 128 -2147483520 2147483776 -81985529054232448 18364758544655319168 0 0
// OUT: -1 255 -1 65535 -1 4294967295 -1 18446744073709551615 1 0
// OUT: -1 255 32767 32767 -32769 4294934527 4294934527 4294934527 1 0
// CROSSINGS: host-to-nxp=40
#include <flick.h>
#include <stdbool.h>
#include <stdio.h>

FLICK_NXP static long from_sc(signed char x) { return x; }
FLICK_NXP static long from_uc(unsigned char x) { return x; }
FLICK_NXP static long from_ss(short x) { return x; }
FLICK_NXP static long from_us(unsigned short x) { return x; }
FLICK_NXP static long from_si(int x) { return x; }
FLICK_NXP static long from_ui(unsigned x) { return x; }
FLICK_NXP static long from_sl(long x) { return x; }
FLICK_NXP static unsigned long from_ul(unsigned long x) { return x; }
FLICK_NXP static long from_bool(bool x) { return x; }
FLICK_NXP static int below(unsigned a, unsigned b) { return a < b; }

static volatile unsigned long values[] = {0x1234567800000000UL, 0xfedcba9880000080UL,
                                          0xffffffffffffffffUL, 0x00000000ffff7fffUL};

int main(void) {
  for (int i = 0; i < 4; i++) {
    unsigned long v = values[i];
    printf("%ld %ld %ld %ld %ld", from_sc((signed char)v), from_uc((unsigned char)v),
           from_ss((short)v), from_us((unsigned short)v), from_si((int)v));
    printf(" %ld %ld %lu %ld %d\n", from_ui((unsigned)v), from_sl((long)v), from_ul(v),
           from_bool(v & 1), below((unsigned)v, 0x80000000U));
  }
}
