// The 80-bit type of x86-64 in the signature of a placed function.
// FAILS: compile FLK0204
// SAYS: 'third'
#include <flick.h>

FLICK_NXP long double third(long double x) /* HERE */
{
  return x / 3;
}

int main(void) { return third(3) != 1; }
