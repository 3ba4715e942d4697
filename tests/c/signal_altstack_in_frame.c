// An alternate signal stack that is a local array of main, above the frames that the signal
// interrupts: the interrupted NxP function keeps its stack.
// OUT: 19900 91
// SKIP-VALGRIND: the loop runs until timer signals arrive, which valgrind delays
#include "flick.h"
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>

static volatile int hits;

FLICK_NXP __attribute__((noinline)) static int scribble(int n) {
  volatile char bytes[2000];
  for (int i = 0; i < 2000; ++i)
    bytes[i] = 0x5a;
  return bytes[n] + n;
}
FLICK_NXP __attribute__((noinline)) static int work(void) {
  volatile long kept[200];
  for (int i = 0; i < 200; ++i)
    kept[i] = i;
  while (hits < 5)
    for (int i = 0; i < 200; ++i)
      if (kept[i] != i)
        return -1 - i;
  long sum = 0;
  for (int i = 0; i < 200; ++i)
    sum += kept[i];
  return (int)sum;
}
static void handler(int signal) {
  (void)signal;
  if (scribble(3) == 0x5d)
    ++hits;
}

int main(void) {
  char memory[65536];
  stack_t stack = {.ss_sp = memory, .ss_size = sizeof memory};
  sigaltstack(&stack, NULL);
  struct sigaction action = {.sa_handler = handler, .sa_flags = SA_ONSTACK};
  sigaction(SIGALRM, &action, NULL);
  struct itimerval every = {{0, 20000}, {0, 20000}};
  setitimer(ITIMER_REAL, &every, NULL);
  int sum = work();
  every = (struct itimerval){{0, 0}, {0, 0}};
  setitimer(ITIMER_REAL, &every, NULL);
  printf("%d %d\n", sum, scribble(1));
  return 0;
}
