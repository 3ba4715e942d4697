#include "tools.h"

FLICK_HOST function second_address() { return &larger<int>; }
FLICK_HOST int second_square(int x) { return square(x); }
