#include "rounding.h"

NXP_ROUNDING(nearbyint, current_rounding());
