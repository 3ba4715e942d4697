// A result that is constructed in place, on the other side: the object's address is the one that
// its constructor saw, and nothing is copied.
// OUT: 63 1 1 4 7 copies 0
#include <cstdio>
#include <flick.h>

static int copies;
struct Self {
  Self *self;
  long pad[6];
  FLICK_NXP explicit Self(long p) : self(this), pad{p, p, p, p, p, p} {}
  Self(const Self &s) : self(this), pad{s.pad[0]} { copies++; }
  ~Self() { self = nullptr; }
  FLICK_HOST bool ok() const { return self == this; }
};
FLICK_NXP static Self make(long p) { return Self(p); }
FLICK_HOST static Self make_host(long p) { return make(p + 1); }
FLICK_NXP static Self make_nested(long p) { return make_host(p + 1); }
FLICK_NXP static int on_nxp() {
  Self a = make_host(1);
  Self b = make_nested(2);
  return a.ok() + b.ok() * 2 + static_cast<int>(a.pad[5] + b.pad[5]) * 10;
}

int main() {
  Self a = make(4), b = make_nested(5);
  std::printf("%d %d %d %ld %ld copies %d\n", on_nxp(), a.ok(), b.ok(), a.pad[3], b.pad[3], copies);
}
