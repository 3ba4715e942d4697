// thread_local objects with constructors and destructors, used from both sides of each thread: one
// per thread, made at first use, destroyed at the thread's end.
// LIBS: -lpthread
// OUT: 1113 1113 1113
// OUT: made 4 gone 12 here 6
#include <cstdio>
#include <flick.h>
#include <thread>

static int made, gone;
struct Cache {
  int hits = 0;
  FLICK_NXP Cache() { __atomic_fetch_add(&made, 1, __ATOMIC_SEQ_CST); }
  FLICK_NXP ~Cache() { __atomic_fetch_add(&gone, hits, __ATOMIC_SEQ_CST); }
};
static thread_local Cache cache;
thread_local int plain = 5;
FLICK_NXP static int nxp_hit() { return ++cache.hits + plain++; }
FLICK_HOST static int host_hit() { return ++cache.hits + plain++; }
FLICK_NXP static int local() {
  static thread_local int calls = nxp_hit();
  return ++calls;
}

int main() {
  int results[3] = {};
  for (int i = 0; i < 3; i++)
    std::thread([i, &results] {
      int r = i == 1 ? nxp_hit() : host_hit();
      r += host_hit() * 10 + nxp_hit() * 100;
      results[i] = r + local() + local();
    }).join();
  std::printf("%d %d %d\n", results[0], results[1], results[2]);
  int here = nxp_hit();
  std::printf("made %d gone %d here %d\n", made, gone, here);
}
