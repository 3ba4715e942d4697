// Engines and distributions of <random>: the same numbers from both sides for one seed, the state
// shared in the middle of a sequence.
// LIBS: -lm
// OUT: 1 1946654618 142252
#include <cstdio>
#include <flick.h>
#include <random>

FLICK_NXP static unsigned nxp_next(std::mt19937 &r) { return static_cast<unsigned>(r()); }
FLICK_HOST static unsigned host_next(std::mt19937 &r) { return static_cast<unsigned>(r()); }
FLICK_NXP static int dice(std::minstd_rand &r) {
  std::uniform_int_distribution<int> d(1, 6);
  int n = 0;
  for (int i = 0; i < 6; i++)
    n = n * 10 + d(r);
  return n;
}

int main() {
  std::mt19937 a(42), b(42);
  bool same = true;
  unsigned last = 0;
  for (int i = 0; i < 1000; i++) {
    unsigned x = i % 3 ? nxp_next(a) : host_next(a);
    same = same && x == b();
    last = x;
  }
  std::minstd_rand r(7);
  std::printf("%d %u %d\n", same, last, dice(r));
}
