// Four threads, one after the other and at once: what they take is known. On a platform where an
// access of the NxP takes 100 ns, one of the host 300, nothing else anything, and there is one NxP
// core.
#include <flick.h>
#include <pthread.h>
#include <stdio.h>

enum { LENGTH = 1000, CALLS = 20, THREADS = 4 };

FLICK_NXP __attribute__((noinline)) static long sum(volatile long *data) {
  long total = 0;
  for (int i = 0; i < LENGTH; i++)
    total += data[i];
  return total;
}

static void *work(void *data) {
  for (int i = 0; i < CALLS; i++)
    sum(data);
  return NULL;
}

int main(void) {
  long *data = flick_alloc(FLICK_MEM_NXP, LENGTH * sizeof *data);
  struct flick_prediction begin, end;
  sum(data);
  flick_predict(&begin);
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; i++)
    pthread_create(&threads[i], NULL, work, data);
  for (int i = 0; i < THREADS; i++)
    pthread_join(threads[i], NULL);
  flick_predict(&end);
  // Nanoseconds: the host runs them at once, the NxP's one core one after the other.
  double one = CALLS * LENGTH * 100.0;
  double staying = (end.staying_ps - begin.staying_ps) / 1e3;
  double migrating = (end.migrating_ps - begin.migrating_ps) / 1e3;
  if (staying != 3 * one) {
    printf("staying: %.0f ns instead of %.0f\n", staying, 3 * one);
    return 1;
  }
  if (migrating < 0.99 * THREADS * one || migrating > 1.01 * THREADS * one) {
    printf("migrating: %.0f ns instead of %.0f\n", migrating, THREADS * one);
    return 1;
  }
}
