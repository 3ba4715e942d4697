// A function on an accelerator, as a header declares it for several units: sums.c has its body, and
// others leave it to the linker. `add_own` is each unit's own.
#pragma once
#include <flick.h>

#ifdef __cplusplus
extern "C" {
#endif

FLICK_ON("vector-sum")
int add_eight(const double a[static 8], const double b[static 8], double sums[static 8]);

// How often the body was executed, and a call from the unit that has it.
extern int bodies_of_sums;
int add_beside_the_body(const double *a, double *sums);

FLICK_ON("vector-sum")
static inline int add_own(const double a[static 8], const double b[static 8],
                          double sums[static 8]) {
  for (int n = 0; n < 8; n++)
    sums[n] = a[n] + b[n];
  bodies_of_sums++;
  return 0;
}

#ifdef __cplusplus
}
#endif
