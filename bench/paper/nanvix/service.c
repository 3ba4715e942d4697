/* Is the kernel hart fair? All user harts of a cluster call it without a pause. The number of calls
 * that each has made in a fixed time shows its part of the service.
 *
 *   service [MILLISECONDS]
 *
 * prints comma-separated values: calls of each caller. */
#include "threads.h"

static struct shared ready;
static uint64_t calls[MOST_THREADS + 1];
static struct shared time;

static void call(uint64_t caller) {
  meet(&ready, MOST_THREADS + 1);
  uint64_t until = flick_time() + shared_get(&time), count = 0;
  for (; flick_time() < until; count++)
    flick_kernel_nothing();
  calls[caller] = count;
}

static void call_and_exit(uint64_t caller) {
  call(caller);
  flick_thread_exit(0);
}

int main(int argc, char **argv) {
  uint64_t threads[MOST_THREADS];
  stay();
  uint64_t milliseconds = argc > 1 ? atoi(argv[1]) : 4;
  shared_set(&time, milliseconds * flick_program.frequency / 1000);
  for (int n = 0; n < MOST_THREADS; n++)
    threads[n] = start_thread(call_and_exit, n, stacks[n] + STACK);
  call(MOST_THREADS);
  for (int n = 0; n < MOST_THREADS; n++)
    join_thread(threads[n]);
  printf("caller,calls\n");
  for (int n = 0; n <= MOST_THREADS; n++)
    printf("%d,%llu\n", n, (unsigned long long)in_memory(&calls[n]));
}
