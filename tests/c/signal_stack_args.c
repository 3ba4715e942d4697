// A signal handler that crosses at any instruction of a call with stack arguments: the arguments
// of the interrupted call stay whole.
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

FLICK_NXP __attribute__((noinline)) static long many(long a, long b, long c, long d, long e, long f,
                                                     long g, long h, long i, long j, long k,
                                                     long l) {
  return a + b * 2 + c * 3 + d * 4 + e * 5 + f * 6 + g * 7 + h * 8 + i * 9 + j * 10 + k * 11 +
         l * 12;
}
static void handler(int signal) {
  (void)signal;
  if (many(-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1) == -78)
    ++hits;
}

int main(void) {
  struct sigaction action = {.sa_handler = handler};
  sigaction(SIGRTMIN, &action, NULL);
  struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN};
  timer_t timer;
  timer_create(CLOCK_MONOTONIC, &event, &timer);
  struct itimerspec every = {{0, 29000}, {0, 29000}};
  timer_settime(timer, 0, &every, NULL);
  long wrong = 0;
  for (time_t end = time(NULL) + SECONDS; !hits || (hits < 10000 && time(NULL) < end);)
    for (int i = 0; i < 1000; ++i)
      wrong += many(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12) != 650;
  timer_delete(timer);
  printf("wrong %ld\n", wrong);
  return hits == 0;
}
