// Conversions among integers, float and double in NxP code, in range: every width and sign, with
// truncation and rounding.
#include <flick.h>
#include <stdint.h>
#include <stdio.h>

FLICK_NXP static void from_double(double d) {
  printf("%d %ld %a", (int)d, (long)d, (double)(float)d);
  if (d > -0.9)
    printf(" %u %lu %d %d", (unsigned)d, (unsigned long)d, (unsigned char)(int)d, (uint16_t)(int)d);
  printf(" %d %d\n", (short)(int)d, (signed char)(int)d);
}
FLICK_NXP static void from_long(long x) {
  printf("%a %a %a %a", (double)x, (double)(float)x, (double)(unsigned long)x,
         (double)(float)(unsigned long)x);
  printf(" %a %a %a\n", (double)(int)x, (double)(unsigned)x, (double)(float)(unsigned)x);
}
FLICK_NXP static unsigned long big(double d) { return (unsigned long)d; }
FLICK_NXP static int truth(double d, float f) { return (_Bool)d * 2 + (_Bool)f; }

static volatile double doubles[] = {0.0, -0.5, 2.5, -3.99, 65535.75, 1e9, -2147483648.0, 1e-320};
static volatile long longs[] = {0, -1, 1L << 53, (1L << 53) + 1, INT64_MAX, INT64_MIN, 16777217};

int main(void) {
  for (int i = 0; i < 8; i++)
    from_double(doubles[i]);
  for (int i = 0; i < 7; i++)
    from_long(longs[i]);
  printf("%lx %lx\n", big(9223372036854775808.0), big(18446744073709549568.0));
  printf("%d %d %d\n", truth(0.0, 1e-45f), truth(-0.1, 0.0f), truth(-0.0, -0.0f));
}
