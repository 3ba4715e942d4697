// Function objects, pointers to functions of every kind (noexcept, static members, overload picked
// by type, template instances) in tables, called from both sides.
// CXXFLAGS: -std=c++17
// OUT: 20882 20882 3
#include <cstdio>
#include <flick.h>

FLICK_NXP static int nothrow(int x) noexcept { return x + 1; }
FLICK_HOST int twice(int x) { return x * 2; }
FLICK_HOST int twice(double x) { return static_cast<int>(x) * 4; }
template <int K> FLICK_NXP static int plus(int x) { return x + K; }
struct Tools {
  FLICK_NXP static int minus(int x) { return -x; }
  FLICK_HOST static int square(int x) { return x * x; }
};
using function = int (*)(int);
static constexpr function table[] = {
    nothrow, static_cast<function>(twice), plus<100>, plus<-100>, Tools::minus, &Tools::square};
struct Compose {
  function first, second;
  FLICK_NXP int operator()(int x) const { return second(first(x)); }
};
FLICK_NXP static int on_nxp(int x) {
  int n = 0;
  for (function f : table)
    n += f(x) * Compose{f, nothrow}(x);
  return n;
}
FLICK_HOST static int on_host(int x) {
  int n = 0;
  for (function f : table)
    n += f(x) * Compose{f, nothrow}(x);
  return n;
}

int main() {
  constexpr int (*sure)(int) noexcept = nothrow;
  static_assert(noexcept(sure(1)) && !noexcept(table[1](1)));
  std::printf("%d %d %d\n", on_nxp(5), on_host(5), sure(2));
}
