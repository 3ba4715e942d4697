#include "tools.h"

FLICK_NXP int first_use(int x) { return larger(x, 3) + Stack<int>().push(4).top(); }
FLICK_NXP function first_address() { return &larger<int>; }
FLICK_NXP int first_square(int x) { return square(x); }
