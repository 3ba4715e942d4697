#include "library.h"

FLICK_NXP int library_run(int x) { return hidden(x) + 1; }
FLICK_HOST int library_inlined() { return inlined() * 10; }
