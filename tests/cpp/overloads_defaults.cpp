// Overloads that differ in const, references, widths and signs, default arguments evaluated at the
// call, and functions that are deleted for some types, on different sides.
// OUT: 123456789 100 1 6 3
#include <cstdio>
#include <flick.h>
#include <initializer_list>

static int counter;
FLICK_NXP static int tick() { return ++counter; }
FLICK_NXP static int f(int) { return 1; }
FLICK_HOST static int f(unsigned) { return 2; }
FLICK_NXP static int f(long) { return 3; }
FLICK_HOST static int f(signed char) { return 4; }
FLICK_NXP static int f(const char *) { return 5; }
FLICK_HOST static int f(bool) { return 6; }
FLICK_NXP static int f(float x) { return static_cast<int>(x * 7); }
FLICK_HOST static int f(int &, int) { return 8; }
FLICK_NXP static int f(const int &, long) { return 9; }
FLICK_NXP static int with_defaults(int a, int b = tick(), int c = tick() * 100) {
  return a + b + c;
}
FLICK_NXP static long all() {
  int i = 0;
  const int k = 0;
  long n = 0;
  for (int r : {f(1), f(1u), f(1L), f(static_cast<signed char>(1)), f("x"), f(true), f(1.0f),
                f(i, 1), f(k, 1L)})
    n = n * 10 + r;
  return n;
}

int main() {
  int a = with_defaults(0, 0), b = with_defaults(0), c = with_defaults(1, 2, 3);
  std::printf("%ld %d %d %d %d\n", all(), a, b > 0, c, counter);
}
