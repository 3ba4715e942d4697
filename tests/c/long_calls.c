// Calls of some million instructions on several threads, whose harts come far ahead of each other
// in virtual time. Expects plain clang's results.
// CARD: card card-two
// SKIP-VALGRIND: its 176 million instructions take a quarter of a minute there
// LIBS: -lpthread
#define _GNU_SOURCE
#include <flick.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>

enum { THREADS = 4, CALLS = 40 };

FLICK_NXP __attribute__((noinline)) uint64_t mix(uint64_t state, uint64_t rounds) {
  for (uint64_t n = 0; n < rounds; n++) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    state ^= state >> 29;
  }
  return state;
}

static uint64_t results[THREADS];
static int kept;

/* May the thread run where it might before? */
static int is_as_before(const cpu_set_t *before) {
  cpu_set_t now;
  return sched_getaffinity(0, sizeof now, &now) == 0 && CPU_EQUAL(&now, before);
}

static void *work(void *argument) {
  uint64_t *result = argument;
  uint64_t state = (uint64_t)(result - results);
  cpu_set_t before;
  sched_getaffinity(0, sizeof before, &before);
  /* One of them has a processor of its own. */
  if (state == 0)
    for (int n = CPU_SETSIZE - 1; n >= 0; n--)
      if (CPU_ISSET(n, &before)) {
        CPU_ZERO(&before);
        CPU_SET(n, &before);
        sched_setaffinity(0, sizeof before, &before);
      }
  for (uint64_t n = 0; n < CALLS; n++)
    state = mix(state, 220000 + n % 2);
  *result = state;
  __atomic_fetch_add(&kept, is_as_before(&before), __ATOMIC_RELAXED);
  return NULL;
}

int main(void) {
  pthread_t threads[THREADS];
  for (int n = 0; n < THREADS; n++)
    if (pthread_create(&threads[n], NULL, work, &results[n]))
      return 1;
  for (int n = 0; n < THREADS; n++) {
    pthread_join(threads[n], NULL);
    printf("%016llx\n", (unsigned long long)results[n]);
  }
  printf("masks kept: %d\n", kept);
  return 0;
}
