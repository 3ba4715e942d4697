// std::tuple, std::pair, std::array and std::bitset by value and by reference across sides.
// OUT: 3 1.5 odd 455
// OUT: 8 8 4 5 1
#include <array>
#include <bitset>
#include <cstdio>
#include <flick.h>
#include <tuple>
#include <utility>

using Row = std::tuple<int, double, const char *>;
FLICK_NXP static Row make(int i) { return {i, i * 0.5, i % 2 ? "odd" : "even"}; }
FLICK_HOST static std::pair<int, int> split(int x) { return {x / 10, x % 10}; }
FLICK_NXP static int on_nxp(int x) {
  auto [a, b] = split(x);
  int c;
  std::tie(c, std::ignore) = split(a * 10 + b + 7);
  return a * 100 + b * 10 + c;
}
FLICK_NXP static std::array<short, 3> small(short x) { return {x, static_cast<short>(x + 1), 3}; }
FLICK_NXP static std::array<int, 20> large(std::array<int, 20> a) {
  for (int &x : a)
    x *= 2;
  return a;
}
FLICK_NXP static std::bitset<100> bits(std::bitset<100> b) {
  b.set(99);
  return b << 1 | b;
}

int main() {
  Row r = make(3);
  std::array<int, 20> a{};
  a.fill(4);
  auto l = large(a);
  std::bitset<100> b;
  b.set(5).set(50);
  b = bits(b);
  std::printf("%d %g %s %d\n", std::get<0>(r), std::get<1>(r), std::get<2>(r), on_nxp(45));
  std::printf("%d %d %d %zu %d\n", small(7)[1], l[19], a[0], b.count(), b.test(51));
}
