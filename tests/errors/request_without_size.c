// A pointer of a request to an accelerator says no size.
// FAILS: compile FLK0216
// SAYS: 'sum'
// SAYS: a pointer without a size
#include <flick.h>

FLICK_ON("vector-sum") void sum(const double a[static 8], double *sums) { *sums = a[0]; } /* HERE */

int main(void) {
  double a[8] = {0};
  sum(a, a);
  return 0;
}
