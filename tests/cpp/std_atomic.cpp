// std::atomic of several types, flags, fences and compare-exchange, contended by threads of both
// sides.
// CXXFLAGS: -std=c++17
// LIBS: -lpthread
// OUT: 800 299 800 800 -800
#include <atomic>
#include <cstdio>
#include <flick.h>
#include <thread>

static std::atomic<int> counter;
static std::atomic<long> largest;
static std::atomic_flag lock = ATOMIC_FLAG_INIT;
static std::atomic<bool> ready;
static int guarded;
struct Pair {
  int a, b;
};
static std::atomic<Pair> pair;

FLICK_NXP static void nxp_work(int n) {
  while (!ready.load(std::memory_order_acquire)) {
  }
  for (int i = 0; i < n; i++) {
    counter.fetch_add(1, std::memory_order_relaxed);
    long seen = largest.load();
    while (seen < i && !largest.compare_exchange_weak(seen, i)) {
    }
    while (lock.test_and_set(std::memory_order_acquire)) {
    }
    guarded++;
    lock.clear(std::memory_order_release);
    Pair p = pair.load();
    while (!pair.compare_exchange_strong(p, Pair{p.a + 1, p.b - 1})) {
    }
  }
}
FLICK_HOST static void host_work(int n) {
  for (int i = 0; i < n; i++) {
    counter++;
    while (lock.test_and_set(std::memory_order_acquire)) {
    }
    guarded++;
    lock.clear(std::memory_order_release);
    Pair p = pair.load();
    while (!pair.compare_exchange_weak(p, Pair{p.a + 1, p.b - 1})) {
    }
  }
}

int main() {
  std::thread a(nxp_work, 300), b(nxp_work, 200), c(host_work, 300);
  std::atomic_thread_fence(std::memory_order_seq_cst);
  ready.store(true, std::memory_order_release);
  a.join(), b.join(), c.join();
  Pair p = pair;
  std::printf("%d %ld %d %d %d\n", counter.load(), largest.load(), guarded, p.a, p.b);
}
