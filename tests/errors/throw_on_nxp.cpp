// A placed function that throws.
// FAILS: compile FLK0211
// SAYS: a throw in 'half(int)'
#include <flick.h>
#include <stdexcept>

FLICK_NXP int half(int n) {
  if (n % 2)
    throw std::domain_error("odd"); /* HERE */
  return n / 2;
}
