// std::vector of numbers and of strings grown, searched, copied and destroyed on both sides.
// OUT: 328400 150 4 50
// OUT: nxp
// OUT: host made this string
// OUT: again
// OUT: host made this string
#include <cstdio>
#include <flick.h>
#include <string>
#include <vector>

FLICK_NXP static std::vector<int> squares(int n) {
  std::vector<int> v;
  for (int i = 0; i < n; i++)
    v.push_back(i * i);
  return v;
}
FLICK_NXP static void grow(std::vector<std::string> &v, const char *word) {
  v.emplace_back(word);
  v.insert(v.begin(), std::string(30, word[0]));
  v.reserve(v.size() * 3);
}
FLICK_HOST static void host_grow(std::vector<std::string> &v) {
  v.emplace_back("host made this string");
  v.erase(v.begin());
}
FLICK_NXP static int sum(const std::vector<int> &v) {
  int s = 0;
  for (int x : v)
    s += x;
  return s;
}
FLICK_NXP static std::size_t letters(std::vector<std::string> v) {
  std::size_t n = 0;
  for (const auto &s : v)
    n += s.size();
  v.clear();
  return n;
}

int main() {
  std::vector<int> v = squares(100);
  v.resize(150, 1);
  std::vector<std::string> words;
  grow(words, "nxp");
  host_grow(words);
  grow(words, "again");
  host_grow(words);
  std::printf("%d %zu %zu %zu\n", sum(v), v.size(), words.size(), letters(words));
  for (const auto &w : words)
    std::printf("%s\n", w.c_str());
}
