// 128-bit arithmetic inside NxP functions: multiplication, division, shifts, comparison, conversion
// to and from double. No 128-bit value crosses.
#include <flick.h>
#include <stdint.h>
#include <stdio.h>

typedef __int128 i128;
typedef unsigned __int128 u128;

static void put(const char *what, uint64_t high, uint64_t low) {
  printf("%s %016lx%016lx\n", what, (unsigned long)high, (unsigned long)low);
}

FLICK_NXP static void run(uint64_t a, uint64_t b, int64_t c, int k) {
  u128 p = (u128)a * b;
  put("mul", (uint64_t)(p >> 64), (uint64_t)p);
  u128 q = p / (b ^ 1), r = p % 1000003;
  put("div", (uint64_t)(q >> 64), (uint64_t)q);
  put("mod", (uint64_t)(r >> 64), (uint64_t)r);
  i128 s = (i128)c * (i128)a, t = s / 12345, u = s % 12345;
  put("sdiv", (uint64_t)(t >> 64), (uint64_t)t);
  put("smod", (uint64_t)(u >> 64), (uint64_t)u);
  u128 l = p << k, m = p >> k;
  put("shl", (uint64_t)(l >> 64), (uint64_t)l);
  put("shr", (uint64_t)(m >> 64), (uint64_t)m);
  i128 n = s >> k;
  put("sar", (uint64_t)(n >> 64), (uint64_t)n);
  double d = (double)p, e = (double)s;
  printf("%a %a %d %d\n", d, e, p < l, s < 0);
  u128 back = (u128)(d / 3);
  put("fix", (uint64_t)(back >> 64), (uint64_t)back);
}

int main(void) {
  run(0xfedcba9876543210UL, 0x123456789abcdef1UL, -987654321987654321L, 37);
  run(3, 5, 7, 100);
  run(~0UL, ~0UL, INT64_MIN, 1);
}
