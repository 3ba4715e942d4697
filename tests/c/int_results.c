// Integers of every width and sign as results of NxP functions, narrowed from wider values.
// Expects the host to see exactly the narrowed value.
// OUT: -128 128 128 128 128 128 128 1
// OUT: 0 0 -32768 32768 32768 32768 32768 1
// OUT: 0 0 0 0 -2147483648 2147483648 2147483648 1
// OUT: 0 0 0 0 0 0 4294967296 1
// OUT: -15 241 -8463 57073 -1698898191 2596069105 1311768467463790321 1
// OUT: abc
#include <flick.h>
#include <stdbool.h>
#include <stdio.h>

FLICK_NXP static signed char to_sc(long x) { return (signed char)(x + 1); }
FLICK_NXP static unsigned char to_uc(long x) { return (unsigned char)(x + 1); }
FLICK_NXP static short to_ss(long x) { return (short)(x + 1); }
FLICK_NXP static unsigned short to_us(long x) { return (unsigned short)(x + 1); }
FLICK_NXP static int to_si(long x) { return (int)(x + 1); }
FLICK_NXP static unsigned to_ui(long x) { return (unsigned)(x + 1); }
FLICK_NXP static unsigned long to_ul(long x) { return (unsigned long)x + 1; }
FLICK_NXP static bool to_bool(long x) { return x; }

static volatile long values[] = {0x7fL, 0x7fffL, 0x7fffffffL, 0xffffffffL, 0x123456789abcdef0L};

int main(void) {
  static const char table[4] = "abc";
  for (int i = 0; i < 5; i++) {
    long v = values[i];
    printf("%d %d %d %d %d %u %lu %d\n", to_sc(v), to_uc(v), to_ss(v), to_us(v), to_si(v), to_ui(v),
           to_ul(v), to_bool(v));
  }
  /* Results used as an index must not carry bits above their width. */
  printf("%c%c%c\n", table[to_uc(0xfff)], table[to_ui(0x1ffffffffL) + 1], table[to_us(0x30001)]);
}
