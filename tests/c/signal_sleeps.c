// A handler that interrupts NxP code sleeps, and another thread crosses meanwhile. Then the code
// goes on with its values, calls the host, and still has them.
// OUT: 126 126 126
// LIBS: -pthread
#include <flick.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>

static volatile sig_atomic_t ready, slept, done;

FLICK_HOST __attribute__((noinline)) static long add(long x, long y) {
  __asm__ volatile("");
  return x + y;
}
FLICK_NXP __attribute__((noinline)) static long work(long x) {
  long before = x * 3;
  ready = 1;
  while (!slept)
    ;
  long after = x * 5;
  long sum = add(before, after);
  return sum * 2 + after - before;
}
FLICK_NXP __attribute__((noinline)) static long other(long x) {
  volatile long here = x;
  return here + 1;
}

static void handler(int signal) {
  (void)signal;
  struct timespec time = {0, 80000000};
  while (nanosleep(&time, &time) != 0)
    ;
  slept = 1;
}

static void *run(void *argument) {
  *(long *)argument = work(7);
  done = 1;
  return NULL;
}

int main(void) {
  struct sigaction action = {.sa_handler = handler};
  sigaction(SIGUSR1, &action, NULL);
  for (int round = 0; round < 3; round++) {
    pthread_t thread;
    long result = 0, crossings = 0;
    ready = slept = done = 0;
    pthread_create(&thread, NULL, run, &result);
    while (!ready)
      sched_yield();
    pthread_kill(thread, SIGUSR1);
    while (!done)
      crossings = other(crossings);
    pthread_join(thread, NULL);
    printf("%s%ld", round ? " " : "", result);
  }
  puts("");
}
