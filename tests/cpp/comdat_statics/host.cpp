#include "counter.h"

FLICK_HOST int host_next() { return next(); }
FLICK_HOST int host_add(int x) { return Tally<int>::add(x); }
FLICK_HOST int *host_where() { return &Tally<int>::sum; }
