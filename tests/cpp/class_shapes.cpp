// Classes by value that C has not: empty ones (alone, as a base, between others), with a base in
// the tail padding of another, with [[no_unique_address]], over-aligned, not trivially copyable
// with two floats, pointers to members and references inside. Both directions.
#include <cstdint>
#include <cstdio>
#include <flick.h>

struct Empty {};
struct Derived : Empty {
  float x, y;
};
struct Tail {
  double d;
  char c;
  Tail(double a, char b) : d(a), c(b) {}
};
struct InTail : Tail {
  char e;
  InTail(double a, char b, char f) : Tail(a, b), e(f) {}
};
struct Packed {
  [[no_unique_address]] Empty none;
  int v;
};
struct alignas(64) Line {
  float v[3];
};
static int alive;
struct Tracked {
  float x, y;
  Tracked(float a, float b) : x(a), y(b) { alive++; }
  Tracked(const Tracked &t) : x(t.x), y(t.y) { alive++; }
  ~Tracked() { alive--; }
};
struct Holder {
  int Packed::*field;
  int &value;
};
using Method = int (Packed::*)(Empty, Derived, int);
struct WithMethod {
  Method m;
};

#define BODY                                                                                       \
  std::printf("%s %g %g %g %d %d %d %d %g %g %g %d\n", where, d.x, d.y, t.d, t.c, t.e, p.v,        \
              int(reinterpret_cast<std::uintptr_t>(&l) % 64), l.v[2], k.x, k.y, h.value);          \
  return Tracked(k.x + d.y, k.y - l.v[0])
FLICK_NXP static Tracked nxp(const char *where, Empty, Derived d, InTail t, Empty, Packed p, Line l,
                             Tracked k, Holder h) {
  p.*h.field += 1;
  BODY;
}
FLICK_HOST static Tracked host(const char *where, Empty, Derived d, InTail t, Empty, Packed p,
                               Line l, Tracked k, Holder h) {
  BODY;
}
static const InTail tail(1.25, 'a', 'b');
FLICK_NXP static Tracked calls_host(int n) {
  Tracked k(float(n), 2);
  return host("host", {}, {{}, 1, 2}, tail, {}, {{}, n}, {{3, 4, 5}}, k, {&Packed::v, n});
}
FLICK_NXP static Packed twice(Packed p) { return {{}, p.v * 2}; }
FLICK_NXP static Empty nothing(Empty e, int *n) {
  ++*n;
  return e;
}
FLICK_NXP static WithMethod same(WithMethod w) { return w; }

int main() {
  int n = 7;
  {
    Tracked a =
        nxp("nxp", {}, {{}, 1, 2}, tail, {}, {{}, n}, {{3, 4, 5}}, Tracked(8, 9), {&Packed::v, n});
    Tracked b = calls_host(3);
    std::printf("%g %g %g %g alive %d\n", a.x, a.y, b.x, b.y, alive);
  }
  nothing({}, &n);
  std::printf("alive %d n %d twice %d %d\n", alive, n, twice({{}, 21}).v,
              same({nullptr}).m == nullptr);
}
