#include <flick.h>

FLICK_NXP int nxp_by_nxp(int x) { return x * 2; }
FLICK_HOST int nxp_by_host(int x) { return x * 3; }
FLICK_NXP int host_by_nxp(int x) { return x * 4; }
FLICK_HOST int host_by_host(int x) { return x * 5; }
