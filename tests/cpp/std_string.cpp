// std::string short and long: built, appended, searched, compared and converted on both sides.
// OUT: ab+ab-
// OUT: 0123456789+0123456789-0123456789+0123456789-0123456789+0123456789-
// OUT: B<replaced by someth2less
// OUT: 42 1 0 64
#include <cstdio>
#include <flick.h>
#include <string>

FLICK_NXP static std::string repeat(const std::string &s, int n) {
  std::string out;
  for (int i = 0; i < n; i++)
    out += s + (i % 2 ? "-" : "+");
  return out;
}
FLICK_HOST static std::string upper(std::string s) {
  for (char &c : s)
    if (c >= 'a' && c <= 'z')
      c = static_cast<char>(c - 32);
  return s;
}
FLICK_NXP static std::string on_nxp(const std::string &s) {
  std::string t = upper(s);
  std::size_t at = t.find("CD");
  t.replace(at, 2, "<replaced by something longer>");
  return t.substr(1, 20) + std::to_string(at) + (t < s ? "less" : "more");
}
FLICK_NXP static int number(const std::string &s) { return std::stoi(s) * 2; }
FLICK_NXP static bool same(const std::string &a, const char *b) { return a == b; }

int main() {
  std::string s = repeat("ab", 2), l = repeat("0123456789", 6), t = on_nxp("abcdef");
  std::printf("%s\n%s\n%s\n", s.c_str(), l.c_str(), t.c_str());
  std::printf("%d %d %d %zu\n", number("21"), same(s, "ab+ab-"), same(l, "x"), l.rfind('9'));
}
