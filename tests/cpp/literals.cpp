// User-defined literals: cooked, raw and of strings, evaluated on the NxP.
// OUT: 5000 4 64 X 3066.5
#include <cstdio>
#include <flick.h>

struct Metres {
  double m;
};
FLICK_HOST static Metres operator""_m(long double x) { return {static_cast<double>(x)}; }
FLICK_NXP static Metres operator""_km(unsigned long long x) {
  return {static_cast<double>(x) * 1000};
}
FLICK_NXP static unsigned long operator""_length(const char *, std::size_t n) { return n; }
FLICK_NXP static int operator""_ternary(const char *digits) {
  int n = 0;
  for (; *digits; digits++)
    n = n * 3 + *digits - 48;
  return n;
}
FLICK_NXP static int operator""_up(char c) { return c - 32; }
FLICK_NXP static double on_nxp() { return (3_km).m + 2101_ternary; }

int main() {
  std::printf("%g %lu %d %c %g\n", (5_km).m, "four"_length, 2101_ternary, 'x'_up,
              on_nxp() + (2.5_m).m);
}
