#include "sums.h"

FLICK_NXP double sum_nxp(const char *kinds, ...) SUM FLICK_BOTH
    double sum_both(const char *kinds, ...) SUM
