// Inline variables, with and without dynamic initializers, in two units: one object each, seen by
// both sides.
// CXXFLAGS: -std=c++17
// OUT: 5 5 5
// OUT: 8 8 1
#include "config.h"
#include <cstdio>

FLICK_NXP static int limit_here() { return limit + Settings::step - 2; }

int main() {
  std::printf("%d %d %d\n", limit, limit_here(), limit_there());
  limit += 3;
  std::printf("%d %d %d\n", limit_here(), limit_there(), where() == &limit);
  return calls == 1 ? 0 : 1;
}
