// x86-64 instructions in a function that is marked for the NxP.
// FAILS: compile FLK0202
// SAYS: 'stamp'
#include <flick.h>

FLICK_NXP unsigned stamp(void) {
  unsigned low, high;
  __asm__ volatile("rdtsc" : "=a"(low), "=d"(high)); /* HERE */
  return low ^ high;
}

int main(void) { return stamp() == 0; }
