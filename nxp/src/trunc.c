#include "rounding.h"

NXP_ROUNDING(trunc, TOWARD_ZERO);
