#include <flick.h>

static __thread int sum = 40;

FLICK_NXP int *of_nxp(void) { return &sum; }
FLICK_HOST int *of_host(void) { return &sum; }
FLICK_NXP int add(int n) { return sum += n; }
