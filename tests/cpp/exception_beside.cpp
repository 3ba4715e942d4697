// Exceptions on host frames while NxP frames come and go: host code throws after NxP calls, in one
// thread while another is inside an NxP function, and an exception_ptr travels through NxP code.
// SKIP-RANDOM: which functions the exceptions pass is the subject
// LIBS: -lpthread
// OUT: rethrown kept
// OUT: 5700
#include <atomic>
#include <cstdio>
#include <exception>
#include <flick.h>
#include <stdexcept>
#include <thread>

static std::atomic<int> phase;
FLICK_NXP static void wait_for(int p) {
  while (phase.load() < p) {
  }
}
FLICK_NXP static long busy(int n) {
  long s = 0;
  for (int i = 0; i < n; i++)
    s += i ^ (s << 1 & 0xff);
  return s;
}
FLICK_HOST static int throws_and_catches(int i) {
  try {
    if (busy(i + 10) >= 0)
      throw std::out_of_range("range");
  } catch (const std::exception &e) {
    return e.what()[0];
  }
  return 0;
}
FLICK_NXP static void pass(const std::exception_ptr *from,
                           void (*take)(const std::exception_ptr *)) {
  take(from);
}
FLICK_HOST static void take(const std::exception_ptr *p) {
  try {
    std::rethrow_exception(*p);
  } catch (const std::runtime_error &e) {
    std::printf("rethrown %s\n", e.what());
  }
}

int main() {
  std::thread other([] { wait_for(1); });
  int sum = 0;
  for (int i = 0; i < 50; i++)
    sum += throws_and_catches(i);
  phase = 1;
  other.join();
  std::exception_ptr kept;
  try {
    throw std::runtime_error("kept");
  } catch (...) {
    kept = std::current_exception();
  }
  pass(&kept, take);
  std::printf("%d\n", sum);
}
