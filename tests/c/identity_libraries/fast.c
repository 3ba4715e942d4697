// Compiled with -fno-plt.
#include "modules.h"

TAKE(FLICK_HOST, fast_take_host)
TAKE(FLICK_NXP, fast_take_nxp)
