// A class with a member of the 80-bit type, computed with in a placed function.
// FAILS: compile FLK0204
// SAYS: half
#include <flick.h>

struct Sample {
  long double value;
  FLICK_NXP double half() const { return static_cast<double>(value / 2); } /* HERE */
};

int main() {
  Sample s{3};
  return s.half() != 1.5;
}
