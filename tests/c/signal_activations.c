// A signal handler that crosses at any instruction of the crossing itself, while calls nest: the
// thread's record of its activations stays right.
// OUT: wrong 0
// SKIP-VALGRIND: it delivers signals between blocks of instructions only, and is slow
#include "flick.h"
#include <signal.h>
#include <stdio.h>
#include <time.h>

// Without Flick there is nothing to interrupt; random placement has many runs. A busy machine
// delivers as many signals in this time as end the run on a quiet one.
#ifndef __FLICK__
enum { SECONDS = 0 };
#elif defined RANDOM_PLACEMENT
enum { SECONDS = 1 };
#else
enum { SECONDS = 3 };
#endif
static volatile long hits;

FLICK_HOST __attribute__((noinline)) static long identity(long x) {
  __asm__ volatile("");
  return x;
}
FLICK_NXP __attribute__((noinline)) static long plus_one(long x) { return x + 1; }
FLICK_NXP __attribute__((noinline)) static long twice(long a) {
  return identity(a) + identity(a + 1);
}
static void handler(int signal) {
  (void)signal;
  if (plus_one(-1) == 0)
    ++hits;
}

int main(void) {
  struct sigaction action = {.sa_handler = handler};
  sigaction(SIGRTMIN, &action, NULL);
  struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN};
  timer_t timer;
  timer_create(CLOCK_MONOTONIC, &event, &timer);
  struct itimerspec every = {{0, 23000}, {0, 23000}};
  timer_settime(timer, 0, &every, NULL);
  long wrong = 0;
  for (time_t end = time(NULL) + SECONDS; !hits || (hits < 10000 && time(NULL) < end);)
    // Few: on a card the handlers leave little time to what they interrupt.
    for (int i = 0; i < 50; ++i)
      wrong += twice(i) != 2 * i + 1;
  timer_delete(timer);
  printf("wrong %ld\n", wrong);
  return hits == 0;
}
