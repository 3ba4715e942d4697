// C++20: consteval, constinit, designated initializers, abbreviated templates, lambdas with
// template parameters, using enum, range for with an initialiser, no_unique_address.
// CXXFLAGS: -std=c++20
// OUT: 15 8 5 71
#include <cstdio>
#include <flick.h>
#include <initializer_list>

consteval int at_compile_time(int x) { return x * 3; }
constinit static int start = at_compile_time(5);
struct Options {
  int level = 1;
  bool fast = false;
  const char *name = "none";
};
enum class Color { red = 1, green = 20 };
struct Empty {};
struct Packed {
  [[no_unique_address]] Empty e;
  int v;
};
FLICK_NXP static int twice(auto x) { return static_cast<int>(x + x); }
FLICK_HOST static int describe(const Options &o) { return o.level * 10 + o.fast; }
FLICK_NXP static int on_nxp() {
  using enum Color;
  int sum = describe({.level = 3, .fast = true}) + static_cast<int>(green);
  for (int i = 2; int x : {1, 2, 3})
    sum += x * i;
  auto size = []<class T>(T) { return static_cast<int>(sizeof(T)); };
  [[likely]] if (sum > 0)
    sum += size(1L);
  return sum;
}

int main() {
  static_assert(sizeof(Packed) == sizeof(int));
  std::printf("%d %d %d %d\n", start++, twice(4), twice(2.75), on_nxp());
}
