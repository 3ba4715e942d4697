// A class of two floats by value, which x86-64 passes as a vector.
// FAILS: compile FLK0205
// SAYS: length
#include <flick.h>

struct Point {
  float x, y;
};
FLICK_NXP float length(Point p) { return p.x + p.y; } /* HERE */

int main() { return length({1, 2}) != 3; }
