// Inline functions of a header in three units: one address on both sides, called by name and
// through it; marked ones and unmarked ones.
// OUT: 1 1 1 1
// OUT: 42 42 42 42
#include "shared.h"
#include <cstdio>

FLICK_NXP static int through(int (*f)(int), int x) { return f(x); }

int main() {
  std::printf("%d %d %d %d\n", host_plain() == plain, nxp_plain() == plain, host_marked() == marked,
              nxp_marked() == marked);
  std::printf("%d %d %d %d\n", through(host_plain(), 41), through(nxp_marked(), 40),
              host_plain()(41), nxp_marked()(40));
}
