// Two functions that cross both ways, for bounded_trace.sh: some threads, and many calls.
#include <flick.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

FLICK_HOST __attribute__((noinline)) long seen(long a) {
  __asm__ volatile("" ::: "memory");
  return a + 1;
}
FLICK_NXP __attribute__((noinline)) long add(long a, long b) { return a + b; }
FLICK_NXP __attribute__((noinline)) long twice(long a) { return seen(a) + seen(a); }

static long calls;

static void *work(void *sum) {
  for (long i = 0; i < calls; i++)
    *(long *)sum += add(i, 1) + twice(i);
  return NULL;
}

int main(int argc, char **argv) {
  long sum = 0;
  calls = argc > 1 ? atol(argv[1]) : 10;
  long threads = argc > 2 ? atol(argv[2]) : 0;
  work(&sum);
  for (long i = 0; i < threads; i++) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, work, &sum) != 0)
      return 1;
    pthread_join(thread, NULL);
  }
  printf("%ld\n", sum);
  return 0;
}
