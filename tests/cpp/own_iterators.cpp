// Iterators of the program's own, used by range for and by algorithms of the other side.
// OUT: 1629 6304 0 3
#include <algorithm>
#include <cstdio>
#include <flick.h>
#include <iterator>
#include <numeric>

class Steps {
public:
  class iterator {
    int at, by;

  public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = int;
    using difference_type = std::ptrdiff_t;
    using pointer = const int *;
    using reference = const int &;
    FLICK_NXP iterator(int a = 0, int b = 1) : at(a), by(b) {}
    FLICK_NXP const int &operator*() const { return at; }
    FLICK_NXP iterator &operator++() {
      at += by;
      return *this;
    }
    FLICK_HOST iterator operator++(int) {
      iterator old = *this;
      at += by;
      return old;
    }
    FLICK_HOST bool operator==(const iterator &i) const { return at == i.at; }
    FLICK_HOST bool operator!=(const iterator &i) const { return at != i.at; }
  };
  FLICK_NXP Steps(int n, int b) : count(n), by(b) {}
  FLICK_NXP iterator begin() const { return iterator(0, by); }
  FLICK_NXP iterator end() const { return iterator(count * by, by); }

private:
  int count, by;
};
FLICK_NXP static int on_nxp(const Steps &s) {
  int n = 0;
  for (int x : s)
    n = n * 3 + x;
  return n;
}
FLICK_HOST static long on_host(const Steps &s) {
  auto it = std::find(s.begin(), s.end(), 12);
  return std::accumulate(s.begin(), s.end(), 0L) * 100 + std::distance(s.begin(), it);
}

int main() {
  Steps s(7, 3);
  auto i = s.begin();
  int first = *i++;
  std::printf("%d %ld %d %d\n", on_nxp(s), on_host(s), first, *i);
}
