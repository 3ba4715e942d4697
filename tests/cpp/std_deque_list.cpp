// std::deque, std::list and std::forward_list filled on one side, spliced, sorted and emptied on
// the other.
// OUT: 100000 100 -44850 0 9123
#include <cstdio>
#include <deque>
#include <flick.h>
#include <forward_list>
#include <list>

FLICK_NXP static void fill(std::deque<long> &d, std::list<int> &l) {
  for (int i = 0; i < 300; i++) {
    d.push_back(i);
    d.push_front(-i);
    l.push_back(i * 37 % 101);
  }
}
FLICK_NXP static int sorted_front(std::list<int> &l, std::list<int> &other) {
  l.sort();
  l.unique();
  other.splice(other.end(), l, l.begin());
  l.reverse();
  return l.front() * 1000 + other.back();
}
FLICK_HOST static long drain(std::deque<long> &d) {
  long s = 0;
  while (d.size() > 3) {
    s += d.front() * 2 + d.back();
    d.pop_front();
    d.pop_back();
  }
  return s;
}
FLICK_NXP static int walk(const std::forward_list<int> &f) {
  int n = 0;
  for (int x : f)
    n = n * 10 + x;
  return n;
}

int main() {
  std::deque<long> d;
  std::list<int> l, other{5};
  fill(d, l);
  int a = sorted_front(l, other);
  long b = drain(d);
  std::forward_list<int> f{1, 2, 3};
  f.push_front(9);
  std::printf("%d %zu %ld %ld %d\n", a, l.size(), b, d[1], walk(f));
}
