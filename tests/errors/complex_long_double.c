// A complex number of long doubles as an argument.
// FAILS: compile FLK0204
// SAYS: 'length'
#include <complex.h>
#include <flick.h>

FLICK_NXP double length(long double _Complex z) { /* HERE */ return (double)__real__ z; }

int main(void) { return (int)length(0); }
