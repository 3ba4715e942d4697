// Packs and folds over calls of functions of both sides, in order.
// CXXFLAGS: -std=c++17
// OUT: 6 30 1 0 789 12345229
#include <cstdio>
#include <flick.h>

static int trace;
FLICK_HOST static int host(int x) {
  trace = trace * 10 + x;
  return x;
}
FLICK_NXP static int nxp(int x) {
  trace = trace * 10 + x;
  return x + 1;
}
template <class... T> FLICK_NXP static int sum(T... x) { return (0 + ... + host(x)); }
template <class... T> FLICK_HOST static int product(T... x) { return (nxp(x) * ...); }
template <class... F> FLICK_NXP static bool any(int x, F... f) { return (... || (f(x) == 3)); }
template <int... I> FLICK_NXP static int digits() {
  int n = 0;
  ((n = n * 10 + I), ...);
  return n;
}

int main() {
  int a = sum(1, 2L, short{3}), b = product(4, 5), c = any(2, host, nxp, host), d = any(9, host);
  std::printf("%d %d %d %d %d %d\n", a, b, c, d, digits<7, 8, 9>(), trace);
}
