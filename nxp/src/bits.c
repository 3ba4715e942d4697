#include "int128.h"

int __clzdi2(uint64_t a) {
  int n = 0;
  for (int step = 32; step != 0; step /= 2)
    if (a >> (64 - step) == 0) {
      n += step;
      a <<= step;
    }
  return n;
}
NXP_ALIAS(__clzdi2);

/* a & -a has one bit; the zeros above it tell where. */
int __ctzdi2(uint64_t a) { return 63 - __clzdi2(a & -a); }
NXP_ALIAS(__ctzdi2);

int __clzti2(u128 a) { return high(a) != 0 ? __clzdi2(high(a)) : 64 + __clzdi2(low(a)); }
NXP_ALIAS(__clzti2);

int __ctzti2(u128 a) { return low(a) != 0 ? __ctzdi2(low(a)) : 64 + __ctzdi2(high(a)); }
NXP_ALIAS(__ctzti2);

int __popcountdi2(uint64_t a) {
  a -= a >> 1 & 0x5555555555555555;
  a = (a & 0x3333333333333333) + (a >> 2 & 0x3333333333333333);
  a = (a + (a >> 4)) & 0x0f0f0f0f0f0f0f0f;
  return a * 0x0101010101010101 >> 56;
}
NXP_ALIAS(__popcountdi2);

int __popcountti2(u128 a) { return __popcountdi2(high(a)) + __popcountdi2(low(a)); }
NXP_ALIAS(__popcountti2);

uint64_t __bswapdi2(uint64_t a) {
  a = (a & 0x00ff00ff00ff00ff) << 8 | (a >> 8 & 0x00ff00ff00ff00ff);
  a = (a & 0x0000ffff0000ffff) << 16 | (a >> 16 & 0x0000ffff0000ffff);
  return a << 32 | a >> 32;
}
NXP_ALIAS(__bswapdi2);

uint32_t __bswapsi2(uint32_t a) { return __bswapdi2(a) >> 32; }
NXP_ALIAS(__bswapsi2);
