// Several bases with virtual functions: a call through the second base enters a thunk that adjusts
// `this`, whichever side the override is on.
// OUT: read 5 write 47
// OUT: read 6 write 57
// OUT: 1 1 1
#include <cstdio>
#include <flick.h>

struct Reader {
  int reads = 0;
  virtual ~Reader() = default;
  virtual int read() = 0;
};
struct Writer {
  int writes = 0;
  virtual ~Writer() = default;
  virtual int write(int x) = 0;
};
struct Device : Reader, Writer {
  int state;
  explicit Device(int s) : state(s) {}
  FLICK_HOST int read() override {
    reads++;
    return state;
  }
  FLICK_NXP int write(int x) override {
    writes++;
    state = x;
    return state + read() + writes;
  }
};

FLICK_NXP static void on_nxp(Reader *r, Writer *w) {
  int a = r->read(), b = w->write(a + 18);
  std::printf("read %d write %d\n", a, b);
}
FLICK_HOST static void on_host(Reader *r, Writer *w) {
  int a = r->read(), b = w->write(a + 22);
  std::printf("read %d write %d\n", a, b);
}
FLICK_NXP static bool same(Reader *r, Writer *w, Device *d) {
  return static_cast<Device *>(r) == d && static_cast<Device *>(w) == d &&
         static_cast<void *>(r) != static_cast<void *>(w);
}

int main() {
  Device d(5), e(6);
  on_nxp(&d, &d);
  on_host(&e, &e);
  std::printf("%d %d %d\n", same(&d, &d, &d), d.writes, e.writes);
}
