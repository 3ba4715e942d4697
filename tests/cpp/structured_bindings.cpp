// Structured bindings of arrays, classes and tuple-like types of the program's own, by value and by
// reference, to objects that come from the other side.
// CXXFLAGS: -std=c++17
// OUT: n -6 0.75 357.5 1 20
#include <cstdio>
#include <flick.h>
#include <utility>

struct Sample {
  char tag;
  long value;
  double weight;
};
class Ring {
  int a, b;

public:
  FLICK_NXP Ring(int x, int y) : a(x), b(y) {}
  template <std::size_t I> FLICK_NXP int get() const { return I ? b * 10 : a; }
};
template <> struct std::tuple_size<Ring> : std::integral_constant<std::size_t, 2> {};
template <std::size_t I> struct std::tuple_element<I, Ring> {
  using type = int;
};
FLICK_HOST static Sample host_sample(int i) { return {'h', i, i / 4.0}; }
FLICK_NXP static Sample nxp_sample(int i) { return {'n', -i, i / 8.0}; }
FLICK_NXP static double on_nxp() {
  auto [tag, value, weight] = host_sample(6);
  int grid[2] = {3, 4};
  auto &[x, y] = grid;
  x += 100;
  const auto [first, second] = Ring(x, y);
  return tag + static_cast<double>(value) + weight + grid[0] + first + second;
}

int main() {
  auto [tag, value, weight] = nxp_sample(6);
  auto [a, b] = Ring(1, 2);
  std::printf("%c %ld %g %g %d %d\n", tag, value, weight, on_nxp(), a, b);
}
