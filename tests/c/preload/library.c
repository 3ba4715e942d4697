#include <flick.h>

FLICK_NXP int step(int x) { return x + 1; }
FLICK_NXP __attribute__((visibility("hidden"))) int hidden_step(int x) { return x + 2; }
/* Another module may replace `step`, never `hidden_step`. */
FLICK_NXP int twice(int x) { return step(step(x)) * 100 + hidden_step(x); }
int host_twice(int x) { return step(step(x)) * 100 + hidden_step(x); }
