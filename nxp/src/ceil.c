#include "rounding.h"

NXP_ROUNDING(ceil, UP);
