// Static polymorphism: bases that call their derived class, which is on the other side.
// OUT: 15 28 31 60
// OUT: 1 0 1
#include <cstdio>
#include <flick.h>

template <class D> struct Counter {
  static inline int live = 0;
  Counter() { live++; }
  ~Counter() { live--; }
  FLICK_NXP int run(int x) { return static_cast<D &>(*this).step(x) + live; }
  FLICK_HOST int host_run(int x) { return static_cast<D &>(*this).step(x) * 2; }
};
template <class D> struct Comparable {
  FLICK_NXP friend bool operator!=(const D &a, const D &b) { return !(a == b); }
  FLICK_NXP friend bool operator>=(const D &a, const D &b) { return !(a < b); }
};
struct Host : Counter<Host>, Comparable<Host> {
  int k = 3;
  FLICK_HOST int step(int x) { return x + k; }
  FLICK_HOST bool operator==(const Host &h) const { return k == h.k; }
  FLICK_HOST bool operator<(const Host &h) const { return k < h.k; }
};
struct Nxp : Counter<Nxp> {
  FLICK_NXP int step(int x) { return x * 3; }
};

int main() {
  Host a, b;
  b.k = 4;
  Nxp c;
  std::printf("%d %d %d %d\n", a.run(10), b.host_run(10), c.run(10), c.host_run(10));
  std::printf("%d %d %d\n", a != b, a >= b, b >= a);
}
