// Compiled by a compiler that knows nothing of Flick.
#define FLICK_PLAIN
#include "modules.h"

int other_function(int x) { return x * 2; }

TAKE(, other_take)
