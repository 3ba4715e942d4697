// Three-way comparison, defaulted and of the program's own, strong, weak and partial, evaluated on
// both sides.
// CXXFLAGS: -std=c++20
// OUT: -1 0 1 9
// OUT: 1011 1000 110 1000
#include <compare>
#include <cstdio>
#include <flick.h>

struct Version {
  int major, minor;
  FLICK_NXP auto operator<=>(const Version &) const = default;
};
struct Caseless {
  char c;
  FLICK_NXP std::weak_ordering operator<=>(const Caseless &o) const {
    return (c | 32) <=> (o.c | 32);
  }
  FLICK_HOST bool operator==(const Caseless &o) const { return (c | 32) == (o.c | 32); }
};
FLICK_NXP static int number(std::partial_ordering o) {
  return o < 0 ? -1 : o > 0 ? 1 : o == 0 ? 0 : 9;
}
FLICK_NXP static std::partial_ordering real(double a, double b) { return a <=> b; }
FLICK_NXP static int on_nxp(const Version &a, const Version &b) {
  return (a < b) + (a <= b) * 10 + (a == b) * 100 + (a != b) * 1000;
}
FLICK_HOST static int on_host(const Caseless &a, const Caseless &b) {
  return (a < b) + (a <= b) * 10 + (a == b) * 100 + (a > b) * 1000;
}

int main() {
  double nan = __builtin_nan("");
  std::printf("%d %d %d %d\n", number(real(1, 2)), number(real(2, 2)), number(real(3, 2)),
              number(real(nan, 1)));
  std::printf("%d %d %d %d\n", on_nxp({1, 2}, {1, 3}), on_nxp({2, 0}, {1, 9}),
              on_host({'a'}, {'A'}), on_host({'b'}, {'A'}));
}
