// Four threads of C++'s library, which is not timed itself: as threads.c.
#include <cstdio>
#include <flick.h>
#include <thread>
#include <vector>

constexpr int Length = 1000, Calls = 20, Threads = 4;

FLICK_NXP __attribute__((noinline)) static long sum(volatile long *data) {
  long total = 0;
  for (int i = 0; i < Length; i++)
    total += data[i];
  return total;
}

int main() {
  long *data = static_cast<long *>(flick_alloc(FLICK_MEM_NXP, Length * sizeof(long)));
  flick_prediction begin, end;
  sum(data);
  flick_predict(&begin);
  // One after the other, and then at once.
  std::thread([=] { sum(data); }).join();
  std::vector<std::thread> threads;
  for (int i = 0; i < Threads; i++)
    threads.emplace_back([=] {
      for (int call = 0; call < Calls; call++)
        sum(data);
    });
  for (std::thread &thread : threads)
    thread.join();
  flick_predict(&end);
  double one = Length * 100.0;
  double staying = static_cast<double>(end.staying_ps - begin.staying_ps) / 1e3;
  double migrating = static_cast<double>(end.migrating_ps - begin.migrating_ps) / 1e3;
  double wanted = (1 + Threads * Calls) * one;
  if (staying != 3 * (1 + Calls) * one) {
    std::printf("staying: %.0f ns instead of %.0f\n", staying, 3 * (1 + Calls) * one);
    return 1;
  }
  if (migrating < 0.9 * wanted || migrating > 1.1 * wanted) {
    std::printf("migrating: %.0f ns instead of %.0f\n", migrating, wanted);
    return 1;
  }
}
