// Static locals of inline functions and templates, static members of templates: one object for all
// units and for both sides.
// OUT: 1 2 3 4 5 6
// OUT: 10 20 30
// OUT: 1 1 1
#include "counter.h"
#include <cstdio>

FLICK_NXP static int mine() { return next(); }
FLICK_NXP static int tens() { return Tally<int>::add(10); }

int main() {
  int a = mine(), b = next(), c = host_next(), d = nxp_next(), e = mine(), f = host_next();
  std::printf("%d %d %d %d %d %d\n", a, b, c, d, e, f);
  int g = tens(), h = host_add(10), i = nxp_add(10);
  std::printf("%d %d %d\n", g, h, i);
  std::printf("%d %d %d\n", host_where() == nxp_where(), host_where() == &Tally<int>::sum,
              Tally<long>::sum == 1);
}
