// C++14: deduced results, generic lambdas with initialised captures, variable templates, relaxed
// constexpr, binary literals and digit separators.
// CXXFLAGS: -std=c++14
// OUT: 9 7 1007 18
#include <cstdio>
#include <flick.h>

template <class T> constexpr T scale = T(2.5);
FLICK_NXP constexpr int count_bits(unsigned x) {
  int n = 0;
  while (x) {
    n += x & 1;
    x >>= 1;
  }
  return n;
}
FLICK_NXP static auto product(double x) { return x * scale<double> + scale<int>; }
FLICK_NXP static decltype(auto) first(int (&a)[3]) { return (a[0]); }
template <class F> FLICK_HOST static int host_call(F f) { return f(3) + static_cast<int>(f(1.5)); }
FLICK_NXP static int on_nxp(int k) {
  auto f = [m = k * 2](auto x) { return x * m; };
  return host_call(f);
}

int main() {
  static_assert(count_bits(0b1011) == 3, "at compile time");
  int a[3] = {1'000, 2, 3};
  first(a) += 7;
  std::printf("%d %g %d %d\n", count_bits(static_cast<unsigned>(a[0])), product(2), a[0],
              on_nxp(2));
}
