#include "shapes.h"

int defined_nowhere(int);
FLICK_NXP int unused(int x) { return defined_nowhere(clamp<int>(x, 3)); }
