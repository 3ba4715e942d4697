// A 128-bit integer beyond the registers of x86-64 is not covered by the crossing.
// FAILS: compile FLK0205
#include <flick.h>

FLICK_NXP long add(long a, long b, long c, long d, long e, __int128 x) /* HERE */
{
  return a + b + c + d + e + (long)x;
}

int main(void) { return add(1, 2, 3, 4, 5, 6) != 21; }
