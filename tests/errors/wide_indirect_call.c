// The same through a pointer, which may lead anywhere.
// FAILS: compile FLK0206
// SAYS: a call through a pointer
#include <flick.h>

typedef unsigned long low_function(unsigned __int128 x);

FLICK_NXP unsigned long sum(low_function *low, unsigned long a, unsigned long b) {
  return low((unsigned __int128)a + b); /* HERE */
}

static unsigned long low(unsigned __int128 x) { return (unsigned long)x; }

int main(void) { return sum(low, 1, 2) != 3; }
