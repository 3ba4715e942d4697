// Threads of the library of C++: locks, conditions, atomics, futures, and data of threads.
// NEEDS: coherent caches
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <future>
#include <latch>
#include <mutex>
#include <numeric>
#include <queue>
#include <semaphore>
#include <shared_mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

using namespace std::chrono_literals;

namespace {
// A queue with room for a few numbers.
class Channel {
public:
  void send(int number) {
    std::unique_lock lock(mutex);
    not_full.wait(lock, [this] { return numbers.size() < 4; });
    numbers.push(number);
    not_empty.notify_one();
  }
  int receive() {
    std::unique_lock lock(mutex);
    not_empty.wait(lock, [this] { return !numbers.empty(); });
    int number = numbers.front();
    numbers.pop();
    not_full.notify_one();
    return number;
  }

private:
  std::mutex mutex;
  std::condition_variable not_full, not_empty;
  std::queue<int> numbers;
};

void channels() {
  Channel channel;
  std::vector<std::jthread> senders;
  for (int n = 0; n < 3; n++)
    senders.emplace_back([n, &channel] {
      for (int k = 0; k < 100; k++)
        channel.send(100 * n + k);
    });
  long sum = 0;
  for (int n = 0; n < 300; n++)
    sum += channel.receive();
  printf("received %ld\n", sum);
}

std::atomic<int> ended;
struct Counted {
  explicit Counted(int value) : value(value) {}
  ~Counted() { ended += value; }
  int value;
};
thread_local Counted counted(10);
thread_local std::vector<int> own{1, 2, 3};

void data_of_threads() {
  std::vector<std::thread> threads;
  for (int n = 0; n < 5; n++)
    threads.emplace_back([n] {
      counted.value += n;
      own.push_back(n);
    });
  for (std::thread &thread : threads)
    thread.join();
  printf("thread-local: %d, %zu\n", ended.load(), own.size());
}

void locks() {
  std::mutex one, two;
  std::recursive_mutex again;
  std::shared_mutex shared;
  int number = 0;
  std::atomic<long> atomic = 0;
  struct Wide {
    long a, b;
  };
  std::once_flag once;
  std::vector<std::thread> threads;
  for (int n = 0; n < 6; n++)
    threads.emplace_back([&, n] {
      std::call_once(once, [] { printf("once\n"); });
      for (int k = 0; k < 200; k++) {
        if (n % 2) {
          std::scoped_lock both(one, two);
          number++;
        } else {
          std::scoped_lock both(two, one);
          number++;
        }
        std::lock_guard outer(again), inner(again);
        std::shared_lock reader(shared);
        atomic.fetch_add(1, std::memory_order_relaxed);
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  printf("locked %d, atomic %ld\n", number, atomic.load());
  std::timed_mutex timed;
  std::unique_lock held(timed);
  std::thread([&] { printf("timed lock: %d\n", timed.try_lock_for(2ms)); }).join();
  std::shared_timed_mutex late;
  std::unique_lock writer(late);
  std::thread([&] { printf("timed reader: %d\n", late.try_lock_shared_for(2ms)); }).join();
}

void times() {
  auto start = std::chrono::steady_clock::now();
  std::this_thread::sleep_for(5ms);
  auto passed = std::chrono::steady_clock::now() - start;
  printf("slept: %d\n", passed >= 5ms);
  std::mutex mutex;
  std::condition_variable never;
  std::unique_lock lock(mutex);
  start = std::chrono::steady_clock::now();
  bool is_late = never.wait_for(lock, 3ms) == std::cv_status::timeout;
  printf("late: %d %d\n", is_late, std::chrono::steady_clock::now() - start >= 3ms);
  auto duration = std::chrono::duration_cast<std::chrono::minutes>(std::chrono::hours(2) + 90s);
  printf("%ld minutes\n", static_cast<long>(duration.count()));
}

int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }

void futures() {
  auto number = std::async(std::launch::async, fibonacci, 15);
  auto lazy = std::async(std::launch::deferred, [] { return std::string("deferred"); });
  auto failing =
      std::async(std::launch::async, []() -> int { throw std::runtime_error("failed"); });
  printf("%d %s\n", number.get(), lazy.get().c_str());
  try {
    failing.get();
  } catch (std::runtime_error &error) {
    printf("%s\n", error.what());
  }
  std::promise<int> promise;
  std::thread thread([&] { promise.set_value(9); });
  printf("promised %d\n", promise.get_future().get());
  thread.join();
  std::packaged_task<int(int)> task([](int n) { return n + 1; });
  task(1);
  printf("task %d\n", task.get_future().get());
}

void of_cxx20() {
  std::latch latch(3);
  std::counting_semaphore<2> semaphore(2);
  std::atomic<int> state = 0, inside = 0, most = 0;
  std::vector<std::jthread> threads;
  for (int n = 0; n < 3; n++)
    threads.emplace_back([&] {
      semaphore.acquire();
      int now = ++inside;
      for (int seen = most; seen < now && !most.compare_exchange_weak(seen, now);)
        ;
      --inside;
      semaphore.release();
      latch.count_down();
    });
  latch.wait();
  printf("at most two: %d\n", most <= 2);
  std::jthread waiter([&] {
    state.wait(0);
    state = state + 1;
    state.notify_all();
  });
  state = 1;
  state.notify_all();
  state.wait(1);
  printf("state %d\n", state.load());
  std::jthread stopped([](std::stop_token stop) {
    while (!stop.stop_requested())
      std::this_thread::yield();
    printf("stopped\n");
  });
}
} // namespace

int main() {
  printf("harts: %d\n", std::thread::hardware_concurrency() > 0);
  channels();
  data_of_threads();
  locks();
  times();
  futures();
  of_cxx20();
}
