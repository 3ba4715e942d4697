// Threads of C++ in virtual time: a pool with a queue of tasks, futures, a shared mutex, a latch
// made of a condition variable, and a value that is made once. All of it takes as long in each run.
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <flick.h>
#include <functional>
#include <future>
#include <mutex>
#include <shared_mutex>
#include <thread>
#include <vector>

namespace {

FLICK_NXP __attribute__((noinline)) long sum(const long *data, long length) {
  long total = 0;
  for (long i = 0; i < length; i++)
    total += data[i];
  return total;
}

class Pool {
public:
  explicit Pool(unsigned count) {
    for (unsigned i = 0; i < count; i++)
      threads.emplace_back([this] { run(); });
  }
  ~Pool() {
    {
      std::lock_guard lock(mutex);
      ends = true;
    }
    filled.notify_all();
    for (std::thread &thread : threads)
      thread.join();
  }
  void add(std::function<void()> task) {
    {
      std::lock_guard lock(mutex);
      tasks.push_back(std::move(task));
    }
    filled.notify_one();
  }

private:
  std::mutex mutex;
  std::condition_variable filled;
  std::deque<std::function<void()>> tasks;
  std::vector<std::thread> threads;
  bool ends = false;

  void run() {
    for (;;) {
      std::function<void()> task;
      {
        std::unique_lock lock(mutex);
        filled.wait(lock, [this] { return ends || !tasks.empty(); });
        if (tasks.empty())
          return;
        task = std::move(tasks.front());
        tasks.pop_front();
      }
      task();
    }
  }
};

std::atomic<long> total;
std::shared_mutex shared;
long written;

} // namespace

int main(int argc, char **argv) {
  unsigned threads = argc > 1 ? atoi(argv[1]) : 4;
  constexpr long Length = 200, Tasks = 200;
  auto *data = static_cast<long *>(flick_alloc(FLICK_MEM_NXP, Length * sizeof(long)));
  for (long i = 0; i < Length; i++)
    data[i] = i;
  auto begin = std::chrono::steady_clock::now();
  {
    Pool pool(threads);
    std::once_flag once;
    for (long i = 0; i < Tasks; i++)
      pool.add([data, i, &once] {
        std::call_once(once, [] { std::this_thread::sleep_for(std::chrono::seconds(1)); });
        total += sum(data, Length / (1 + i % 7));
        if (i % 10) {
          std::shared_lock lock(shared);
          total += written;
        } else {
          std::unique_lock lock(shared);
          written += i;
        }
      });
    auto other = std::async(std::launch::async, [data] { return sum(data, Length); });
    total += other.get();
  }
  std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  // The machine's second is not the program's.
  if (took.count() < 1) {
    std::printf("no second has passed: %f s\n", took.count());
    return 1;
  }
  std::printf("%ld %.9f\n", total.load(), took.count());
}
