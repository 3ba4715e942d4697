#include "common.h"

FLICK_NXP int two(int x) { return power<2>(x) * 100 + power<3>(x) + next(); }
FLICK_HOST function address_in_two() { return &power<2>; }
