// The definition is marked otherwise than an earlier declaration, as when a header is out of date.
// FAILS: compile FLK0201
// SAYS: 'torn'
// SAYS: FLICK_NXP and FLICK_HOST
#include <flick.h>

FLICK_HOST int torn(int x);

FLICK_NXP int torn(int x) { return x + 1; }

int main(void) { return torn(-1); }
