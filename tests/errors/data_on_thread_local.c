// FLICK_NXP_DATA on a thread-local variable.
// FAILS: compile FLK0214
// SAYS: 'mine'
// SAYS: thread-local
#include <flick.h>

FLICK_NXP_DATA _Thread_local int mine; /* HERE */

int main(void) { return mine; }
