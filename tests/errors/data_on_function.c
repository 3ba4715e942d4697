// A mark for variables on a function.
// FAILS: compile FLK0214
// SAYS: 'zero'
#include <flick.h>

FLICK_NXP_DATA int zero(void) { return 0; } /* HERE */

int main(void) { return zero(); }
