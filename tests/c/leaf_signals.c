// Signals interrupt leaves of the NxP that the host has called, in several threads. The
// handler crosses: to the same leaves, and to NxP code that calls the host. Every second time it
// leaves by siglongjmp. Expects right results.
// OUT: wrong 0
// LIBS: -lpthread
// LOST-CALLS: the handler can leave a call between its fault and its count
// SKIP-VALGRIND: the loop runs until signals arrive, which valgrind delays
// SKIP-TIMED: the loops run until signals arrive
#define _GNU_SOURCE
#include <flick.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#define SEPARATE __attribute__((noinline))
enum { THREADS = 3, TICKS = 10 };

FLICK_NXP SEPARATE static unsigned long mixed(const unsigned long *from, unsigned long n) {
  unsigned long x = 1;
  for (unsigned long i = 0; i < n; i++)
    x = x * 6364136223846793005 + from[i & 7];
  return x;
}
FLICK_HOST SEPARATE static long identity(long x) {
  __asm__ volatile("");
  return x;
}
FLICK_NXP SEPARATE static long twice(long x) { return identity(x) + identity(x); }

static const unsigned long numbers[8] = {3, 1, 4, 1, 5, 9, 2, 6};
static unsigned long expected, expected_few;
static volatile sig_atomic_t wrong;
static _Thread_local volatile sig_atomic_t ticks, may_leave;
static _Thread_local sigjmp_buf out;

static void on_tick(int signal) {
  (void)signal;
  ticks++;
  wrong += mixed(numbers, 10) != expected_few;
  wrong += twice(ticks) != 2 * ticks;
  if (may_leave && ticks % 2 == 0)
    siglongjmp(out, 1);
}

static volatile int done[THREADS], all_done;

static void *run(void *arg) {
  unsigned long (*volatile by_pointer)(const unsigned long *, unsigned long) = mixed;
  while (ticks < TICKS) {
    if (sigsetjmp(out, 1) != 0)
      continue;
    may_leave = 1;
    unsigned long got = by_pointer(numbers, 20000);
    may_leave = 0;
    wrong += got != expected;
    wrong += mixed(numbers, 20000) != expected;
  }
  *(volatile int *)arg = 1;
  while (!all_done)
    usleep(1000);
  return NULL;
}

int main(void) {
  expected = mixed(numbers, 20000);
  expected_few = mixed(numbers, 10);
  signal(SIGUSR1, on_tick);
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; i++)
    pthread_create(&threads[i], NULL, run, (void *)&done[i]);
  for (int left = THREADS; left != 0;) {
    usleep(1000);
    left = 0;
    for (int i = 0; i < THREADS; i++) {
      left += !done[i];
      if (!done[i])
        pthread_kill(threads[i], SIGUSR1);
    }
  }
  all_done = 1;
  for (int i = 0; i < THREADS; i++)
    pthread_join(threads[i], NULL);
  printf("wrong %d\n", (int)wrong);
}
