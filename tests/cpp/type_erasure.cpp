// A value type that hides any callable behind a table of functions, with room for small objects;
// its tables hold functions of both sides.
// OUT: 84 84 68 68
// OUT: 46 6 1
// OUT: 0
#include <cstdio>
#include <flick.h>
#include <new>
#include <utility>

class Any {
  struct Table {
    int (*call)(void *, int);
    void (*destroy)(void *);
    void (*copy)(void *, const void *);
  };
  template <class F> struct Functions {
    FLICK_NXP static int call(void *f, int x) { return (*static_cast<F *>(f))(x); }
    FLICK_HOST static void destroy(void *f) { static_cast<F *>(f)->~F(); }
    FLICK_NXP static void copy(void *to, const void *from) {
      new (to) F(*static_cast<const F *>(from));
    }
    static constexpr Table table = {call, destroy, copy};
  };
  alignas(8) unsigned char room[32];
  const Table *table;

public:
  template <class F> explicit Any(F f) : table(&Functions<F>::table) {
    static_assert(sizeof(F) <= sizeof room, "fits");
    new (room) F(std::move(f));
  }
  FLICK_NXP Any(const Any &a) : table(a.table) { table->copy(room, a.room); }
  Any &operator=(const Any &) = delete;
  ~Any() { table->destroy(room); }
  int operator()(int x) { return table->call(room, x); }
};
static int alive;
struct Counted {
  int n;
  FLICK_NXP explicit Counted(int x) : n(x) { alive++; }
  FLICK_HOST Counted(const Counted &c) : n(c.n) { alive++; }
  FLICK_NXP ~Counted() { alive--; }
  FLICK_HOST int operator()(int x) { return n += x; }
};
FLICK_NXP static int on_nxp(Any a) { return a(1) * 10 + a(2); }
FLICK_HOST static int on_host(Any a) { return a(1) * 10 + a(2); }

int main() {
  {
    Any a([](int x) { return x * 7; }), b(Counted(5));
    int k = 3;
    Any c([&k](int x) FLICK_NXP { return k += x; });
    std::printf("%d %d %d %d\n", on_nxp(a), on_host(a), on_nxp(b), on_host(b));
    int r = on_nxp(c);
    std::printf("%d %d %d\n", r, k, alive);
  }
  std::printf("%d\n", alive);
}
