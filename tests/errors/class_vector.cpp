// A class around an AVX register by value.
// FAILS: compile FLK0205
// SAYS: length
// CXXFLAGS: -mavx
#include <flick.h>

struct Octet {
  float v __attribute__((vector_size(32)));
};
FLICK_NXP float length(Octet p) { return p.v[0] + p.v[7]; } /* HERE */

int main() { return length(Octet{}) != 0; }
