// std::unordered_map with a hash of the program's own on the NxP, and with the library's.
// OUT: 69 20617 2 3 -1
#include <cstdio>
#include <flick.h>
#include <string>
#include <unordered_map>

struct Key {
  int a, b;
  FLICK_NXP bool operator==(const Key &k) const { return a == k.a && b == k.b; }
};
struct Hash {
  FLICK_NXP std::size_t operator()(const Key &k) const {
    return static_cast<std::size_t>(k.a) * 31 + static_cast<std::size_t>(k.b);
  }
};
using Table = std::unordered_map<Key, int, Hash>;
FLICK_NXP static void fill(Table &t, int n) {
  for (int i = 0; i < n; i++)
    t[Key{i % 10, i % 7}] += i;
}
FLICK_HOST static int host_sum(const Table &t) {
  int s = 0;
  for (const auto &[k, v] : t)
    s += k.a * k.b + v;
  return s;
}
FLICK_NXP static int look_up(const std::unordered_map<std::string, int> &m, const char *key) {
  auto it = m.find(key);
  return it == m.end() ? -1 : it->second;
}

int main() {
  Table t;
  fill(t, 200);
  t.erase(Key{3, 3});
  std::unordered_map<std::string, int> m{{"one", 1}, {"two", 2}, {"a longer key than fits", 3}};
  std::printf("%zu %d %d %d %d\n", t.size(), host_sum(t), look_up(m, "two"),
              look_up(m, "a longer key than fits"), look_up(m, "none"));
}
