// A handler on an alternate stack while NxP code runs; it crosses from there. Expects its locals on
// that stack.
// OUT: 6 7 7
// SKIP-RANDOM: a handler placed on the NxP has its locals on the NxP stack
#include <flick.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

enum { SIZE = 1 << 18 };
static char *stack;
static volatile sig_atomic_t inside, crossed;

FLICK_NXP static int square(int x) { return x * x; }
static void handler(int signal) {
  char here;
  volatile char *p = &here;
  inside += p >= stack && p < stack + SIZE;
  crossed += square(signal) == SIGUSR1 * SIGUSR1;
}
FLICK_NXP static int provoke(int n) {
  volatile int keep = n;
  raise(SIGUSR1);
  return keep ? provoke(n - 1) + 1 : 0;
}

int main(void) {
  stack = malloc(SIZE);
  stack_t ss = {.ss_sp = stack, .ss_size = SIZE};
  struct sigaction a = {.sa_handler = handler, .sa_flags = SA_ONSTACK};
  sigaltstack(&ss, NULL);
  sigaction(SIGUSR1, &a, NULL);
  int depth = provoke(6);
  printf("%d %d %d\n", depth, inside, crossed);
}
