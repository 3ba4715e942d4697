// Three hundred threads cross in both directions at the same time: more than the card has harts,
// and each goes on where it has left off.
// OUT: wrong 0
// OUT: 300 threads, sum 1393500
// LIBS: -pthread
// CROSSINGS: host-to-nxp>=4500
#include <flick.h>
#include <pthread.h>
#include <stdio.h>

enum { THREADS = 300, ROUNDS = 5 };

static pthread_barrier_t all;
static long wrong;

FLICK_HOST __attribute__((noinline)) static long add(long x, long y) {
  __asm__ volatile("");
  return x + y;
}
FLICK_NXP __attribute__((noinline)) static long inner(long x) {
  volatile long here[2] = {x, 1};
  return here[0] + here[1];
}
FLICK_HOST __attribute__((noinline)) static long middle(long x) { return inner(x) + inner(x); }
// Values of before the calls are used behind them.
FLICK_NXP __attribute__((noinline)) static long outer(long x, double factor) {
  volatile long here = x;
  long sum = add(x, 3);
  double product = factor * (double)middle(sum);
  return (long)product + here;
}

static void *run(void *argument) {
  long number = (long)argument, sum = 0;
  pthread_barrier_wait(&all);
  for (long round = 0; round < ROUNDS; round++) {
    long x = number + round, got = outer(x, 2.5);
    if (got != (long)(2.5 * (double)(2 * (x + 4))) + x)
      __atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
    sum += got;
  }
  return (void *)sum;
}

int main(void) {
  pthread_t threads[THREADS];
  pthread_attr_t small;
  long sum = 0;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, 256 << 10);
  pthread_barrier_init(&all, NULL, THREADS);
  for (long n = 0; n < THREADS; n++)
    if (pthread_create(&threads[n], &small, run, (void *)n) != 0)
      return 1;
  for (int n = 0; n < THREADS; n++) {
    void *result;
    pthread_join(threads[n], &result);
    sum += (long)result;
  }
  printf("wrong %ld\n", wrong);
  printf("%d threads, sum %ld\n", THREADS, sum);
}
