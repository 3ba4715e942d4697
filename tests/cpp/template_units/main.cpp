// The same instantiations of a marked template in three units: one function for all of them, its
// address equal everywhere; an unmarked one is used by both sides.
// OUT: 10 2.5 7 14
// OUT: 1 1 0
// OUT: 9 9 9
#include "tools.h"
#include <cstdio>

FLICK_NXP static int use_here(int x) { return larger(x, 3) + Stack<int>().push(4).top(); }

int main() {
  std::printf("%d %g %d %d\n", larger(10, 2), larger(1.5, 2.5), use_here(1), first_use(10));
  std::printf("%d %d %d\n", first_address() == &larger<int>, second_address() == &larger<int>,
              reinterpret_cast<void *>(first_address()) ==
                  reinterpret_cast<void *>(&larger<double>));
  std::printf("%d %d %d\n", square(3), first_square(3), second_square(3));
}
