// Two marks that exclude each other, on one function.
// FAILS: compile FLK0201
// SAYS: 'torn'
// SAYS: FLICK_NXP and FLICK_HOST
#include <flick.h>

FLICK_NXP FLICK_HOST int torn(int x) /* HERE */
{
  return x + 1;
}

int main(void) { return torn(-1); }
