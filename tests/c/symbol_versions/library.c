#include <flick.h>

/* Two versions of one name, both on the NxP; a third function calls the newer one by its own name.
 */
FLICK_NXP int value_old(int x) { return x + 1; }
FLICK_NXP int value_new(int x) { return x * 10; }
__asm__(".symver value_old, value@V1");
__asm__(".symver value_new, value@@V2");

FLICK_NXP int other(int x) { return value_new(x) - value_old(x); }
