#include "common.h"

FLICK_NXP int one(int x) { return power<2>(x) * 10 + next(); }
FLICK_NXP function address_in_one() { return &power<2>; }
