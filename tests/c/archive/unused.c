#include "members.h"
#include <flick.h>

int defined_nowhere(int);
FLICK_NXP int unused(int x) { return defined_nowhere(x); }
