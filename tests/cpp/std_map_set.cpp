// std::map and std::set whose nodes are made on both sides, with a comparison that runs on the NxP.
#include <cstdio>
#include <flick.h>
#include <map>
#include <set>
#include <string>

struct Backwards {
  FLICK_NXP bool operator()(int a, int b) const { return b < a; }
};
using Words = std::map<std::string, int>;
FLICK_NXP static void count(Words &w, const char *text) {
  std::string word;
  for (; *text; text++)
    if (*text == ' ') {
      w[word]++;
      word.clear();
    } else {
      word += *text;
    }
  w[word]++;
}
FLICK_HOST static void host_add(std::set<int, Backwards> &s, int n) {
  for (int i = 0; i < n; i++)
    s.insert(i * 7 % 11);
}
FLICK_NXP static int nxp_drop(std::set<int, Backwards> &s) {
  int dropped = 0;
  for (auto i = s.begin(); i != s.end();)
    if (*i % 2) {
      i = s.erase(i);
      dropped++;
    } else {
      ++i;
    }
  return dropped;
}

int main() {
  Words w;
  count(w, "the cat and the dog and the end");
  w["host"] = 9;
  count(w, "host");
  for (const auto &[word, n] : w)
    std::printf("%s %d, ", word.c_str(), n);
  std::set<int, Backwards> s;
  host_add(s, 9);
  std::printf("\n%d", nxp_drop(s));
  for (int x : s)
    std::printf(" %d", x);
  std::puts("");
}
