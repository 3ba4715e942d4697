#include "data.h"

ON_COMPUTE int counters[3];
FLICK_NXP_ON("compute") int *counters_there(void) { return counters; }
