// C++11: auto, range for, delegating and inherited constructors, override, nullptr, initializer
// lists, static_assert, alignas, decltype, default and delete.
// CXXFLAGS: -std=c++11
// OUT: 16 8 10
#include <cstdio>
#include <flick.h>
#include <initializer_list>

struct Base {
  int a, b;
  FLICK_NXP Base(int x, int y) : a(x), b(y) {}
  FLICK_NXP explicit Base(int x) : Base(x, x * 2) {}
  Base(const Base &) = delete;
  Base &operator=(const Base &) = delete;
  virtual ~Base() = default;
  virtual int get() const { return a; }
};
struct Derived final : Base {
  using Base::Base;
  int extra = 5;
  FLICK_NXP int get() const override { return a + b + extra; }
};
FLICK_NXP static auto sum(std::initializer_list<int> l) -> decltype(1 + 1) {
  int s = 0;
  for (auto x : l)
    s += x;
  return s;
}
FLICK_HOST static int use(const Base *b) { return b == nullptr ? -1 : b->get(); }
FLICK_NXP static int on_nxp() {
  static_assert(sizeof(Derived) >= 3 * sizeof(int), "three members");
  Derived d{4};
  return use(&d) + use(nullptr);
}

int main() {
  Derived d(1, 2);
  std::printf("%d %d %d\n", on_nxp(), use(&d), sum({1, 2, 3, 4}));
}
