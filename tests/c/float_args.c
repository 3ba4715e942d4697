// float arguments and results in both directions, NaN and denormal among them. Expects the bits to
// arrive as they left: RV64 boxes a float in a double register, x86-64 does not.
// OUT: 3f800000 3fb00000 2040004d 40900000
// OUT: bf000001 be000004 e080004c bf400002
// OUT: 00000001 3ec00000 0000004c 00000004
// OUT: 80000000 3ec00000 c000004d 80000000
// OUT: 7f800000 7f800000 4040004d 7f800000
// OUT: 7fc00123
// OUT: ff7fffff ff7fffff 80c0004d ff800000
#include <flick.h>
#include <stdio.h>
#include <string.h>

static unsigned bits(float f) {
  unsigned u;
  memcpy(&u, &f, sizeof u);
  return u;
}

FLICK_HOST static float host_half(float x) { return x * 0.5f; }
FLICK_HOST static float host_pick(float a, float b, int second) { return second ? b : a; }

FLICK_NXP static float nxp_id(float x) { return x; }
FLICK_NXP static float nxp_sum(float a, float b, float c) { return a + b * c; }
FLICK_NXP static unsigned nxp_bits(float a, double b, float c) {
  return bits(a) ^ (unsigned)b ^ (bits(c) >> 1);
}
FLICK_NXP static float nxp_host(float x) { return host_half(x) + host_pick(x, 4 * x, x > 0); }

int main(void) {
  volatile unsigned in[] = {0x3f800000, 0xbf000001, 0x00000001, 0x80000000,
                            0x7f800000, 0x7fc00123, 0xff7fffff};
  for (int i = 0; i < 7; i++) {
    unsigned u = in[i];
    float f;
    memcpy(&f, &u, sizeof f);
    printf("%08x", bits(nxp_id(f)));
    if (f == f)
      printf(" %08x %08x %08x", bits(nxp_sum(f, 3, 0.125f)), nxp_bits(f, 77.5, f),
             bits(nxp_host(f)));
    printf("\n");
  }
}
