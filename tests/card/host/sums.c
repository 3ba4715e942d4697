// The unit with the body of what sums.h declares.
#include "sums.h"

int bodies_of_sums;

int add_eight(const double a[static 8], const double b[static 8], double sums[static 8]) {
  for (int n = 0; n < 8; n++)
    sums[n] = a[n] + b[n];
  bodies_of_sums++;
  return 0;
}

int add_beside_the_body(const double *a, double *sums) {
  return add_eight(a, a, sums) || add_own(sums, a, sums);
}
