// std::optional, std::variant with visitors of both sides, std::any.
// CXXFLAGS: -std=c++17
// OUT: 5 -1 2
// OUT: 0 5 5
// OUT: 28
// OUT: 1 25 25
// OUT: 25
// OUT: 2 28 28
// OUT: 5
// OUT: 3 -1 -2
#include <any>
#include <cstdio>
#include <flick.h>
#include <optional>
#include <string>
#include <variant>

using Value = std::variant<int, double, std::string>;
struct Visitor {
  FLICK_NXP int operator()(int x) const { return x; }
  FLICK_HOST int operator()(double x) const { return static_cast<int>(x * 10); }
  FLICK_NXP int operator()(const std::string &s) const { return static_cast<int>(s.size()); }
};
FLICK_NXP static std::optional<int> half(int x) {
  if (x % 2)
    return std::nullopt;
  return x / 2;
}
FLICK_NXP static int visit_on_nxp(const Value &v) { return std::visit(Visitor{}, v); }
FLICK_HOST static int visit_on_host(const Value &v) { return std::visit(Visitor{}, v); }
FLICK_NXP static Value make(int i) {
  if (i == 0)
    return 5;
  if (i == 1)
    return 2.5;
  return std::string("a string of the NxP's making");
}
FLICK_NXP static long from_any(const std::any &a) {
  if (const int *i = std::any_cast<int>(&a))
    return *i;
  return a.has_value() ? -1 : -2;
}

int main() {
  std::printf("%d %d %d\n", half(10).value_or(-1), half(3).value_or(-1),
              *half(4) + half(5).has_value());
  for (int i = 0; i < 3; i++) {
    Value v = make(i);
    std::printf("%zu %d %d\n", v.index(), visit_on_nxp(v), visit_on_host(v));
    v = make(2 - i);
    std::printf("%d\n", visit_on_nxp(v));
  }
  std::printf("%ld %ld %ld\n", from_any(3), from_any(std::string("x")), from_any({}));
}
