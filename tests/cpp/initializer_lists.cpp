// std::initializer_list: as argument in two registers, in constructors, nested, with elements that
// are made and destroyed on the other side.
// OUT: 90620 220035 100 alive 0 most 4
#include <cstdio>
#include <flick.h>
#include <initializer_list>

static int alive, most;
struct Element {
  int v;
  FLICK_NXP Element(int x) : v(x) {
    if (++alive > most)
      most = alive;
  }
  FLICK_HOST Element(const Element &e) : v(e.v + 1000) { alive++; }
  FLICK_HOST ~Element() { alive--; }
};
struct Row {
  int sum = 0;
  FLICK_NXP Row(std::initializer_list<Element> l) {
    for (const Element &e : l)
      sum += e.v;
  }
  FLICK_NXP Row(int a, int b) : sum(a * b) {}
};
FLICK_HOST static int largest(std::initializer_list<int> l) {
  int m = 0;
  for (int x : l)
    m = x > m ? x : m;
  return m;
}
FLICK_NXP static int grid(std::initializer_list<std::initializer_list<int>> rows) {
  int n = 0;
  for (auto r : rows)
    n = n * 100 + static_cast<int>(r.size()) * 10 + largest(r);
  return n;
}
FLICK_NXP static int on_nxp() {
  Row a{1, 2, 3}, b(4, 5);
  return a.sum * 100 + b.sum + largest({7, 9, 8}) * 10000;
}

int main() {
  int a = on_nxp(), b = grid({{1, 2}, {}, {5, 3, 4}});
  Row r{10, 20, 30, 40};
  std::printf("%d %d %d alive %d most %d\n", a, b, r.sum, alive, most);
}
