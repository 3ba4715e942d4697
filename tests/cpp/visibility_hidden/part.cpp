#include "library.h"

FLICK_NXP int hidden(int x) { return x + 100; }
