// mutable, const and volatile members and member functions, overloads by const and by reference
// qualifiers, on different sides.
// OUT: 489409 123 123 2 0
#include <cstdio>
#include <flick.h>
#include <utility>

class Lazy {
  int source;
  mutable int cached = -1;
  mutable volatile int reads = 0;

public:
  FLICK_NXP explicit Lazy(int s) : source(s) {}
  FLICK_NXP int get() const {
    if (cached < 0)
      cached = source * source;
    reads = reads + 1;
    return cached;
  }
  FLICK_HOST int get() { return -source; }
  FLICK_HOST int get() volatile { return source + 1; }
  FLICK_NXP int count() const volatile { return reads; }
  FLICK_NXP int kind() & { return 1; }
  FLICK_HOST int kind() const & { return 2; }
  FLICK_NXP int kind() && { return 3; }
};
FLICK_NXP static int on_nxp(const Lazy &c, Lazy &l, volatile Lazy &v) {
  return c.get() * 10000 + l.get() * 100 + v.get();
}
FLICK_HOST static int kinds(Lazy &l, const Lazy &c) {
  return l.kind() * 100 + c.kind() * 10 + std::move(l).kind();
}
FLICK_NXP static int kinds_on_nxp(Lazy &l, const Lazy &c) {
  return l.kind() * 100 + c.kind() * 10 + Lazy(0).kind();
}

int main() {
  Lazy a(6);
  const Lazy c(7);
  volatile Lazy v(8);
  int r = on_nxp(c, a, v), k = kinds(a, c), n = kinds_on_nxp(a, c);
  c.get();
  std::printf("%d %d %d %d %d\n", r, k, n, c.count(), v.count());
}
