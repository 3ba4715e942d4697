#include "shared.h"

ADDRESSES(FLICK_HOST, two_host)
ADDRESSES(FLICK_NXP, two_nxp)
FLICK_NXP void two_throws() { throw Thrown{2}; }
