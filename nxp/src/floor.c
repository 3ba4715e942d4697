#include "rounding.h"

NXP_ROUNDING(floor, DOWN);
