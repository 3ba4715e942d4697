#include "shared.h"

ADDRESSES(FLICK_HOST, one_host)
ADDRESSES(FLICK_NXP, one_nxp)
FLICK_NXP void one_throws() { throw Thrown{1}; }
