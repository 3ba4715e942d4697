// Narrow integer results and arguments of host functions that NxP code calls; the host leaves the
// upper bits of its registers undefined. Expects the NxP side to extend them itself.
// OUT: 120 120 22136 22136 305419896 305419896 0 7330343616
// OUT: -2 254 -2 65534 -2 4294967294 1 55835034288
// OUT: -113 143 -28785 36751 -1879076977 2415890319 1 10736841048
// OUT: 0 0 0 0 -2147483648 2147483648 0 4294967296
// OUT: -128 128 128 128 128 128 0 4864
#include <flick.h>
#include <stdbool.h>
#include <stdio.h>

FLICK_HOST static signed char to_sc(long x) { return (signed char)x; }
FLICK_HOST static unsigned char to_uc(long x) { return (unsigned char)x; }
FLICK_HOST static short to_ss(long x) { return (short)x; }
FLICK_HOST static unsigned short to_us(long x) { return (unsigned short)x; }
FLICK_HOST static int to_si(long x) { return (int)x; }
FLICK_HOST static unsigned to_ui(long x) { return (unsigned)x; }
FLICK_HOST static bool to_bool(long x) { return x & 2; }
FLICK_HOST static long sum(signed char a, unsigned char b, short c, unsigned short d, int e,
                           unsigned f) {
  return a + 3L * b + 5L * c + 7L * d + 11L * e + 13L * f;
}

FLICK_NXP static void show(long v) {
  long wide[] = {to_sc(v), to_uc(v), to_ss(v), to_us(v), to_si(v), to_ui(v), to_bool(v)};
  for (int i = 0; i < 7; i++)
    printf("%ld ", wide[i]);
  long s = sum((signed char)v, (unsigned char)v, (short)v, (unsigned short)v, (int)v, (unsigned)v);
  printf("%ld\n", s);
}

int main(void) {
  show(0x12345678L);
  show(-2L);
  show(0x7fff8fff8f8fL);
  show((long)0x80000000UL);
  show((long)0xffffffff00000080UL);
}
