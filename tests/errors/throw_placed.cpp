// A throw in a placed function.
// FAILS: compile FLK0211
// SAYS: checked
#include <flick.h>

FLICK_NXP int checked(int x) {
  if (x < 0)
    throw x; /* HERE */
  return x;
}

int main() { return checked(0); }
