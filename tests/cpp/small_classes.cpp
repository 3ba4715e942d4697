// Classes by value: empty, trivial in one and two registers, of mixed kinds, too large, and not
// trivially copyable, which go by reference; as arguments and results in both directions.
// OUT: 44224 74321 copies 2
#include <cstdio>
#include <flick.h>

struct Empty {};
struct One {
  int v;
};
struct Mixed {
  double d;
  long l;
};
struct Large {
  long v[5];
};
static int copies;
struct Tracked {
  int v;
  explicit Tracked(int x) : v(x) {}
  FLICK_NXP Tracked(const Tracked &t) : v(t.v + 1) { copies++; }
  FLICK_HOST ~Tracked() { v = -1; }
};
FLICK_NXP static int nxp(Empty, One o, Mixed m, Large l, Tracked t) {
  return o.v + static_cast<int>(m.d) * 10 + static_cast<int>(m.l) * 100 +
         static_cast<int>(l.v[4]) * 1000 + t.v * 10000;
}
FLICK_HOST static int host(Empty, One o, Mixed m, Large l, Tracked t) {
  return o.v + static_cast<int>(m.d) * 10 + static_cast<int>(m.l) * 100 +
         static_cast<int>(l.v[4]) * 1000 + t.v * 10000;
}
FLICK_NXP static One make_one(int x) { return {x}; }
FLICK_NXP static Mixed make_mixed(Empty, int x) { return {x + 0.5, x}; }
FLICK_HOST static Large make_large(int x) { return {{x, x, x, x, x}}; }
FLICK_NXP static Tracked make_tracked(int x) { return Tracked(x); }
FLICK_NXP static int on_nxp() {
  Tracked t = make_tracked(3);
  return host({}, make_one(1), make_mixed({}, 2), make_large(4), t) + t.v;
}

int main() {
  Tracked t = make_tracked(6);
  int a = on_nxp(), b = nxp({}, {1}, {2.5, 3}, make_large(4), t);
  std::printf("%d %d copies %d\n", a, b, copies);
}
