// std::thread, mutex, lock_guard, condition_variable, call_once: a queue between a producer on the
// NxP and consumers of both sides.
// LIBS: -lpthread
// OUT: 5050 1
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <flick.h>
#include <mutex>
#include <thread>

class Queue {
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<int> items;

public:
  FLICK_NXP void put(int x) {
    {
      std::lock_guard<std::mutex> hold(mutex);
      items.push_back(x);
    }
    changed.notify_one();
  }
  FLICK_NXP int take() {
    std::unique_lock<std::mutex> hold(mutex);
    while (items.empty())
      changed.wait(hold);
    int x = items.front();
    items.pop_front();
    return x;
  }
};
static Queue queue;
static std::once_flag once;
static int initialised;
FLICK_NXP static void initialise() { initialised++; }
FLICK_NXP static void nxp_consumer(long *sum) {
  std::call_once(once, initialise);
  while (int x = queue.take())
    *sum += x;
}
FLICK_HOST static void host_consumer(long *sum) {
  std::call_once(once, initialise);
  while (int x = queue.take())
    *sum += x;
}
FLICK_NXP static void producer(int n) {
  for (int i = 1; i <= n; i++)
    queue.put(i);
  queue.put(0);
  queue.put(0);
}

int main() {
  long a = 0, b = 0;
  std::thread one(nxp_consumer, &a), two(host_consumer, &b), three(producer, 100);
  one.join(), two.join(), three.join();
  std::printf("%ld %d\n", a + b, initialised);
}
