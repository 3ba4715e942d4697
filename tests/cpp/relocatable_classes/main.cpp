// C++ objects with the same inline functions, templates and static locals joined by ld -r, linked
// with a third that has them too.
// STEP: c++ -c one.cpp -o one.o
// STEP: c++ -c two.cpp -o two.o
// STEP: ld -r one.o two.o -o joined.o
// STEP: link main.cpp joined.o
// OUT: 191 1029 112 104
// OUT: 1
#include "common.h"
#include <cstdio>

FLICK_NXP static int three(int x) { return power<2>(x) + next(); }

int main() {
  int a = one(3), b = two(3), c = three(3), d = next();
  std::printf("%d %d %d %d\n", a, b, c, d);
  std::printf("%d\n", address_in_one() == address_in_two() && address_in_two() == &power<2>);
}
