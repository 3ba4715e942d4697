// Threads of the host on a card whose harts differ: one hart has the Zba and Zbb of placed code.
#include <flick.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

enum { THREADS = 6, CALLS = 20 };

FLICK_HOST __attribute__((noinline)) static uint64_t host(uint64_t value) { return value ^ 0x55; }

FLICK_NXP __attribute__((noinline)) uint64_t mixed(const uint64_t *list, uint64_t index) {
  double part = (double)index / 3;
  uint64_t sum = list[index & 7] + host(index);
  sum += (uint64_t)__builtin_popcountll(sum) + (uint64_t)(part * 3 + 0.5);
  return (sum << 3) + index;
}

static pthread_barrier_t meeting;

static void *run(void *number) {
  uint64_t list[8], sum = (uintptr_t)number;
  for (int n = 0; n < 8; n++)
    list[n] = sum * (uint64_t)n;
  for (int n = 0; n < CALLS; n++) {
    // All of them want the hart at a time.
    pthread_barrier_wait(&meeting);
    sum += mixed(list, sum & 0xffff);
  }
  return (void *)sum;
}

int main(void) {
  pthread_t threads[THREADS];
  pthread_barrier_init(&meeting, NULL, THREADS);
  for (uintptr_t n = 0; n < THREADS; n++)
    pthread_create(&threads[n], NULL, run, (void *)(n + 1));
  for (int n = 0; n < THREADS; n++) {
    void *sum;
    pthread_join(threads[n], &sum);
    printf("thread %d: %lu\n", n, (unsigned long)sum);
  }
  return 0;
}
