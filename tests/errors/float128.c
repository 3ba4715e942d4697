// Arithmetic with __float128.
// FAILS: compile FLK0212
// SAYS: 'half'
#include <flick.h>

FLICK_NXP int half(int x) {
  __float128 y = x; /* HERE */
  return (int)(y / 2);
}

int main(void) { return half(4); }
