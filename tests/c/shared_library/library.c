#include "library.h"
#include <flick.h>

int library_value = 1;

FLICK_NXP int library_nxp(int x) { return x + 1; }
FLICK_HOST int library_host(int x) { return library_nxp(x); }
FLICK_NXP int library_call(event *f, int x) { return f(x) + library_nxp(x); }
FLICK_NXP event *library_address(void) { return library_nxp; }
FLICK_NXP int library_is_own(event *f) { return f == library_nxp || f == library_host; }
