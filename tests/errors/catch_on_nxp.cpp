// A placed function that catches.
// FAILS: compile FLK0211
// SAYS: a catch in 'tame(int)'
#include <flick.h>
#include <stdexcept>

int wild(int n);

FLICK_NXP int tame(int n) {
  try {
    return wild(n);
  } catch (const std::domain_error &) { /* HERE */
    return -1;
  }
}
