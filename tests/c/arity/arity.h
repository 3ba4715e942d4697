#include "flick.h"

FLICK_HOST long opaque(long value);
FLICK_NXP long call_unprototyped(long value);
FLICK_NXP long replaced(long a, long b, long c);
FLICK_NXP long sum(const char *kinds, ...);
