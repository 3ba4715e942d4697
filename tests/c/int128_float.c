// Conversions between __int128 and floating point on the NxP.
#include "flick.h"
#include <stdio.h>

FLICK_NXP __attribute__((noinline)) static void convert(long high, long low) {
  __int128 s = ((__int128)high << 64) + low;
  unsigned __int128 u = (unsigned __int128)s;
  double d = (double)s, du = (double)u;
  float f = (float)s, fu = (float)(u >> 1);
  printf("%a %a %a %a\n", d, du, (double)f, (double)fu);
  __int128 back = (__int128)(d / 4);
  unsigned __int128 backu = (unsigned __int128)(du / 4);
  __int128 backf = (__int128)(f / 4);
  printf("%lx %lx %lx %lx %lx %lx\n", (long)(back >> 64), (long)back, (long)(backu >> 64),
         (long)backu, (long)(backf >> 64), (long)backf);
}

int main(void) {
  convert(0, 12345);
  convert(-1, -12345);
  convert(0x123456789abcdef, 0x7edcba9876543210);
  convert(-0x123456789abcdef, 0x7edcba9876543210);
  return 0;
}
