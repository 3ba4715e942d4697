// What cannot be placed cannot be placed on both sides either.
// FAILS: compile FLK0202
// SAYS: 'stamp'
// SAYS: both sides
#include <flick.h>

FLICK_BOTH unsigned stamp(void) {
  unsigned low, high;
  __asm__ volatile("rdtsc" : "=a"(low), "=d"(high)); /* HERE */
  return low ^ high;
}

int main(void) { return stamp() == 0; }
