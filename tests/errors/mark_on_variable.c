// A mark for functions on a variable.
// FAILS: compile FLK0214
// SAYS: 'counter'
// SAYS: FLICK_NXP_DATA
#include <flick.h>

FLICK_NXP int counter; /* HERE */

int main(void) { return counter; }
