// Overrides that return a class derived from what the base returns: the thunk adjusts the result.
// OUT: 7 7 7 7
// OUT: null 1 1
#include <cstdio>
#include <flick.h>

struct Other {
  long pad = 3;
  virtual ~Other() = default;
};
struct Value {
  int v = 0;
  virtual ~Value() = default;
};
struct Both : Other, Value {
  explicit Both(int x) { v = x; }
};
struct Maker {
  virtual ~Maker() = default;
  virtual Value *make(int x) = 0;
};
struct NxpMaker : Maker {
  FLICK_NXP Both *make(int x) override { return x ? new Both(x) : nullptr; }
};
struct HostMaker : Maker {
  FLICK_HOST Both *make(int x) override { return x ? new Both(x) : nullptr; }
};
FLICK_NXP static int on_nxp(Maker &m) {
  Value *v = m.make(7);
  int r = v->v;
  delete v;
  return r;
}
FLICK_HOST static int on_host(Maker &m) {
  Value *v = m.make(7);
  int r = v->v;
  delete v;
  return r;
}
FLICK_NXP static bool is_null(Maker &m) { return m.make(0) == nullptr; }

int main() {
  NxpMaker n;
  HostMaker h;
  int a = on_nxp(n), b = on_nxp(h), c = on_host(n), d = on_host(h);
  std::printf("%d %d %d %d\n", a, b, c, d);
  std::printf("null %d %d\n", is_null(n), is_null(h));
}
