#include "data.h"

ON_COMPUTE int in_library[1000] = {1};
ON_STORAGE static int statics[3];
FLICK_NXP int *statics_of_library(void) { return statics; }
