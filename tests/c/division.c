// Division, remainder and shifts of all widths and signs, by variables and constants, only where C
// defines the result.
// OUT: 50af235f539c8530
// OUT: -3001 3 -242
#include <flick.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>

FLICK_NXP static long ints(int a, int b) { return a / b * 1000L + a % b; }
FLICK_NXP static unsigned long unsigneds(unsigned a, unsigned b) { return a / b + a % b * 7UL; }
FLICK_NXP static long longs(long a, long b) { return a / b ^ (a % b * 2); }
FLICK_NXP static unsigned long ulongs(unsigned long a, unsigned long b) { return a / b ^ a % b; }
FLICK_NXP static int narrow(signed char a, short b) { return a / b + a % b * 100; }
FLICK_NXP static long constants(long a) {
  return a / 7 + a % 10 + a / -3 + a / 8 + a % 8 + a / 1000000007;
}
FLICK_NXP static unsigned long shifts(unsigned long x, int k) {
  return (x << k) ^ (x >> k) ^ (unsigned long)((long)x >> k) ^ (unsigned)((unsigned)x << (k & 31)) ^
         (unsigned long)((int)x >> (k & 31));
}

static volatile long values[] = {1, -1, 7, -13, INT_MAX, INT_MIN, LONG_MAX, -LONG_MAX, 100000};

int main(void) {
  unsigned long h = 0;
  for (int i = 0; i < 9; i++)
    for (int j = 0; j < 9; j++) {
      long a = values[i], b = values[j];
      int x = (int)a, y = (int)b;
      if (y && !(x == INT_MIN && y == -1))
        h = h * 31 + (unsigned long)ints(x, y);
      if (y)
        h = h * 31 + unsigneds((unsigned)x, (unsigned)y);
      h = h * 31 + (unsigned long)longs(a, b);
      h = h * 31 + ulongs((unsigned long)a, (unsigned long)b);
      if ((short)b)
        h = h * 31 + (unsigned long)narrow((signed char)a, (short)b);
      h = h * 31 + (unsigned long)constants(a) + shifts((unsigned long)a, (i * 9 + j) % 64);
    }
  printf("%lx\n", h);
  printf("%ld %ld %d\n", ints(-7, 2), longs(-7, 2), narrow(-128, 3));
}
