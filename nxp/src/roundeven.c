#include "rounding.h"

NXP_ROUNDING(roundeven, TIES_TO_EVEN);
