#include "shared.h"

FLICK_NXP function nxp_plain() { return plain; }
FLICK_NXP function nxp_marked() { return marked; }
