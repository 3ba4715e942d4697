// A number is no array of a request to an accelerator, and neither is a structure.
// FAILS: compile FLK0216
// SAYS: 'scale(double (&) [8], double)'
// SAYS: no array
#include <flick.h>

FLICK_ON("vector-sum") void scale(double (&a)[8], double by) { a[0] *= by; } /* HERE */

int main() {
  double a[8] = {0};
  scale(a, 2);
  return 0;
}
