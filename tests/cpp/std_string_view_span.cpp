// std::string_view and std::span by value (two registers) in both directions, views of memory of
// both sides, from_chars and to_chars.
// CXXFLAGS: -std=c++20
// OUT: two 4 9018 255 1
#include <charconv>
#include <cstdio>
#include <flick.h>
#include <span>
#include <string_view>

using std::operator""sv;
FLICK_NXP static std::string_view word(std::string_view s, int n) {
  while (n-- > 0)
    s.remove_prefix(s.find(' ') + 1);
  return s.substr(0, s.find(' '));
}
FLICK_HOST static std::string_view trim(std::string_view s) {
  while (s.starts_with('<'))
    s.remove_prefix(1);
  while (s.ends_with('>'))
    s.remove_suffix(1);
  return s;
}
FLICK_NXP static int trimmed_size(std::string_view s) { return static_cast<int>(trim(s).size()); }
FLICK_NXP static long sum(std::span<const int> s) {
  long r = 0;
  for (int x : s)
    r += x;
  return r + static_cast<long>(s.size());
}
FLICK_HOST static long halves(std::span<int> s) {
  return sum(s.first(s.size() / 2)) * 1000 + sum(s.last(s.size() - s.size() / 2));
}
FLICK_NXP static long local() {
  int a[6] = {1, 2, 3, 4, 5, 6};
  return halves(a);
}
FLICK_NXP static int number(std::string_view s) {
  int n = -1;
  std::from_chars(s.data(), s.data() + s.size(), n, 16);
  return n;
}

int main() {
  std::string_view w = word("one two three", 1);
  std::printf("%.*s %d %ld %d %d\n", static_cast<int>(w.size()), w.data(),
              trimmed_size("<<body>>>"sv), local(), number("ff"), w == "two"sv);
}
