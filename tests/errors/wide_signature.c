// A 128-bit integer is not covered by the crossing yet.
// FAILS: compile FLK0205
// SAYS: 'square'
#include <flick.h>

FLICK_NXP unsigned __int128 square(unsigned __int128 x) /* HERE */
{
  return x * x;
}

int main(void) { return square(1) != 1; }
