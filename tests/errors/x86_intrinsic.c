// An intrinsic that only x86-64 has.
// FAILS: compile FLK0203
// SAYS: 'stamp'
#include <flick.h>

FLICK_NXP unsigned long long stamp(void) { return __builtin_ia32_rdtsc(); /* HERE */ }

int main(void) { return stamp() == 0; }
