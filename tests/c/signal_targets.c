// A signal handler calls a hundred host functions from the NxP while the interrupted NxP code
// calls some of them: each call reaches the function that it names.
// OUT: wrong 0
// SKIP-VALGRIND: it delivers signals between blocks of instructions only, and is slow
#include "flick.h"
#include <signal.h>
#include <stdio.h>
#include <time.h>

#define TEN(M, n) M(n##0) M(n##1) M(n##2) M(n##3) M(n##4) M(n##5) M(n##6) M(n##7) M(n##8) M(n##9)
#define HUNDRED(M)                                                                                 \
  TEN(M, 1)                                                                                        \
  TEN(M, 2) TEN(M, 3) TEN(M, 4) TEN(M, 5) TEN(M, 6) TEN(M, 7) TEN(M, 8) TEN(M, 9) TEN(M, 10)

#define DEFINE(n)                                                                                  \
  FLICK_HOST __attribute__((noinline)) static long h##n(long x) {                                  \
    __asm__ volatile("");                                                                          \
    return x * 1000 + n;                                                                           \
  }
HUNDRED(DEFINE)

// Without Flick there is nothing to interrupt; random placement has many runs. A busy machine
// delivers as many signals in this time as end the run on a quiet one.
#ifndef __FLICK__
enum { SECONDS = 0 };
#elif defined RANDOM_PLACEMENT
enum { SECONDS = 1 };
#else
enum { SECONDS = 3 };
#endif
static volatile long hits, wrong_in_handler;
static timer_t timer;
// Each handler sets the next signal, so that the interrupted code goes on for a while however long
// handlers take.
static void set_next(void) {
  struct itimerspec next = {{0, 0}, {0, 250000}};
  timer_settime(timer, 0, &next, NULL);
}

#define CHECK(n) wrong += h##n(x) != x * 1000 + n;
FLICK_NXP __attribute__((noinline)) static long sweep(long x) {
  long wrong = 0;
  HUNDRED(CHECK)
  return wrong;
}
FLICK_NXP __attribute__((noinline)) static long hot(void) {
  long wrong = 0;
  for (long x = 0; x < 200; ++x) {
    TEN(CHECK, 1)
  }
  return wrong;
}
static void handler(int signal) {
  (void)signal;
  wrong_in_handler += sweep(3);
  ++hits;
  set_next();
}

int main(void) {
  struct sigaction action = {.sa_handler = handler};
  sigaction(SIGRTMIN, &action, NULL);
  struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN};
  timer_create(CLOCK_MONOTONIC, &event, &timer);
  set_next();
  long wrong = 0;
  for (time_t end = time(NULL) + SECONDS; !hits || (hits < 4000 && time(NULL) < end);)
    wrong += hot();
  timer_delete(timer);
  printf("wrong %ld\n", wrong + wrong_in_handler);
  return hits == 0;
}
