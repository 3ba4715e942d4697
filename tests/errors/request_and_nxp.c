// A function is a request to an accelerator, and code of the NxP.
// FAILS: compile FLK0201
// SAYS: FLICK_NXP and FLICK_ON
#include <flick.h>

FLICK_ON("vector-sum") FLICK_NXP void clear(double a[static 8]) { a[0] = 0; } /* HERE */

int main(void) {
  double a[8];
  clear(a);
  return 0;
}
