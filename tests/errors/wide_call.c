// A call in the body passes what the crossing does not cover yet.
// FAILS: compile FLK0206
// SAYS: 'low'
// SAYS: 'sum'
#include <flick.h>

__attribute__((noinline)) FLICK_HOST unsigned long low(unsigned __int128 x) {
  return (unsigned long)x;
}

FLICK_NXP unsigned long sum(unsigned long a, unsigned long b) {
  return low((unsigned __int128)a + b); /* HERE */
}

int main(void) { return sum(1, 2) != 3; }
