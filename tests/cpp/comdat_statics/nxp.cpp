#include "counter.h"

FLICK_NXP int nxp_next() { return next(); }
FLICK_NXP int nxp_add(int x) { return Tally<int>::add(x); }
FLICK_NXP int *nxp_where() { return &Tally<int>::sum; }
