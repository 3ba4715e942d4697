// std::async, promise and future with work and results of the NxP.
// LIBS: -lpthread
// OUT: 500500 55 41
#include <cstdio>
#include <flick.h>
#include <future>

FLICK_NXP static long triangle(int n) {
  long s = 0;
  for (int i = 1; i <= n; i++)
    s += i;
  return s;
}
FLICK_NXP static void fulfil(std::promise<int> *p, int x) { p->set_value(x * 2); }
FLICK_NXP static int wait_on_nxp(std::future<int> *f) { return f->get() + 1; }

int main() {
  auto a = std::async(std::launch::async, triangle, 1000);
  auto b = std::async(std::launch::deferred, triangle, 10);
  std::promise<int> promise;
  std::future<int> future = promise.get_future();
  std::thread t(fulfil, &promise, 20);
  int c = wait_on_nxp(&future);
  t.join();
  std::printf("%ld %ld %d\n", a.get(), b.get(), c);
}
