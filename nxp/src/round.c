#include "rounding.h"

NXP_ROUNDING(round, TIES_AWAY);
