// The 80-bit type of x86-64 in the body of a placed function.
// FAILS: compile FLK0204
// SAYS: 'third'
#include <flick.h>

FLICK_NXP double third(double x) {
  long double wide = x;
  return (double)(wide / 3); /* the conversion above comes first */
}

int main(void) { return third(3) != 1; }
