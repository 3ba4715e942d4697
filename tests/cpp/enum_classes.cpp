// Scoped enumerations of several underlying types as arguments, results, switch values and flags.
// OUT: 122 2746 1 0 -128
#include <cstdio>
#include <flick.h>

enum class Small : signed char { minus = -5, zero, plus = 100 };
enum class Wide : unsigned long { top = 1UL << 63, one = 1 };
enum Plain : short { p = -2, q = 3 };
FLICK_NXP constexpr Wide operator|(Wide a, Wide b) {
  return static_cast<Wide>(static_cast<unsigned long>(a) | static_cast<unsigned long>(b));
}
FLICK_HOST static Small next(Small s) {
  switch (s) {
  case Small::minus:
    return Small::zero;
  case Small::zero:
    return Small::plus;
  default:
    return Small::minus;
  }
}
FLICK_NXP static int on_nxp(Small s, Plain x) {
  int r = 0;
  for (int i = 0; i < 4; i++, s = next(s))
    r = r * 3 + static_cast<int>(s);
  return r + x;
}
FLICK_NXP static bool has(Wide w, Wide bit) {
  return (static_cast<unsigned long>(w) & static_cast<unsigned long>(bit)) != 0;
}
FLICK_NXP static Small make(int i) { return static_cast<Small>(i); }

int main() {
  std::printf("%d %d %d %d %d\n", on_nxp(Small::minus, p), on_nxp(Small::plus, q),
              has(Wide::top | Wide::one, Wide::top), has(Wide::one, Wide::top),
              static_cast<int>(make(-128)));
}
