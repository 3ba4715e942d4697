#include "config.h"

FLICK_NXP int limit_there() { return limit * Settings::step / 2; }
FLICK_NXP int *where() { return &limit; }
