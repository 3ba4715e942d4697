// C and C++ units in one program: extern "C" functions called both ways across sides, a C++ object
// behind an opaque pointer, callbacks, a C variable.
// OUT: 33 106 3 0
#include "both.h"
#include <cstdio>

struct counter {
private:
  int n;

public:
  FLICK_NXP explicit counter(int start) : n(start) {}
  FLICK_HOST ~counter() { c_live--; }
  FLICK_NXP int add(int x) { return n += x; }
};
extern "C" {
FLICK_NXP counter *counter_new(int start) {
  c_live++;
  return new counter(start);
}
FLICK_NXP int counter_add(counter *c, int x) { return c->add(x); }
FLICK_HOST void counter_delete(counter *c) { delete c; }
}
namespace {
FLICK_NXP int by_two(int x) { return 2 * x; }
} // namespace
FLICK_NXP static int drive() { return c_apply(by_two, 10) + c_nxp(5); }

int main() {
  int a = drive(), b = c_uses_counter(100), c = c_apply([](int x) { return x - 1; }, 3);
  std::printf("%d %d %d %d\n", a, b, c, c_live);
}
