// A loop of some ten million NxP instructions without a crossing, and one of twenty thousand
// crossings. Expects the same sums and nothing that grows.
// OUT: 4019061724 3171585203
// CROSSINGS: host-to-nxp=2 nxp-to-host=20000
#include <flick.h>
#include <stdint.h>
#include <stdio.h>

FLICK_HOST static uint32_t mix(uint32_t x) { return x * 2654435761U; }

FLICK_NXP static uint32_t spin(uint32_t n) {
  uint32_t x = 1;
  for (uint32_t i = 0; i < n; i++)
    x = (x ^ (x << 13)) + (x >> 7) + i;
  return x;
}
FLICK_NXP static uint32_t cross(uint32_t n) {
  uint32_t x = 0;
  for (uint32_t i = 0; i < n; i++)
    x ^= mix(i + x);
  return x;
}

int main(void) {
  uint32_t a = spin(1500000), b = cross(20000);
  printf("%u %u\n", a, b);
}
