// C++17: if constexpr, structured bindings, fold expressions, class template argument deduction,
// init statements, nested namespaces, constexpr lambdas.
// CXXFLAGS: -std=c++17
// OUT: 41 4 300 10 61 -1
#include <cstdio>
#include <flick.h>

namespace outer::inner {
template <class T> struct Box {
  T v;
  FLICK_NXP explicit Box(T x) : v(x) {}
  FLICK_NXP T get() const { return v; }
};
} // namespace outer::inner
struct Point {
  int x, y;
};
template <class T> FLICK_NXP static long widen(T x) {
  if constexpr (sizeof(T) > 4)
    return x * 100;
  else
    return x + 1;
}
template <class... T> FLICK_NXP static auto sum(T... x) { return (x + ... + 0); }
template <class... T> FLICK_HOST static bool all(T... x) { return (... && x); }
FLICK_HOST static Point host_point(int i) { return {i, -i}; }
FLICK_NXP static int on_nxp(int i) {
  auto [x, y] = host_point(i);
  if (int d = x - y; d > 4)
    return d * 10 + all(x > 0, y < 0);
  return -1;
}

int main() {
  outer::inner::Box box(41L);
  constexpr auto square = [](int x) { return x * x; };
  static_assert(square(4) == 16);
  std::printf("%ld %ld %ld %d %d %d\n", box.get(), widen(3), widen(3L), sum(1, 2, 3, 4), on_nxp(3),
              on_nxp(1));
}
