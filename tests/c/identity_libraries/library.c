#include "modules.h"

int library_data = 3;
FLICK_NXP int library_nxp(int x) { return x + library_data; }
FLICK_BOTH int library_both(int x) { return x + 2; }
extern int library_alias(int x) __attribute__((alias("library_nxp")));

TAKE(FLICK_HOST, library_take_host)
TAKE(FLICK_NXP, library_take_nxp)
