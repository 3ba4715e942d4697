#include "members.h"
#include <flick.h>

FLICK_NXP int first(int x) { return second(x) + plain(x); }
