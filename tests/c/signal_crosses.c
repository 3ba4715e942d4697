// A signal handler that calls NxP functions while NxP frames are below, with a timer during pure
// NxP code and with raise inside a host callee.
// OUT: 1153437650
// OUT: 1 0 1
// SKIP-VALGRIND: the loop runs until timer signals arrive, which valgrind delays
#include <flick.h>
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>

static volatile sig_atomic_t handled, wrong;
static volatile unsigned seed = 12345;

FLICK_HOST static unsigned host_step(unsigned x) { return x * 3 + 1; }
FLICK_NXP static unsigned chain(unsigned x, int n) {
  for (int i = 0; i < n; i++)
    x = host_step(x) ^ (x >> 3);
  return x;
}
static unsigned expected;

static void handler(int signal) {
  (void)signal;
  if (chain(seed, 20) != expected)
    wrong = wrong + 1;
  handled = handled + 1;
}

FLICK_NXP static unsigned busy(unsigned until) {
  unsigned x = 7, rounds = 0;
  while ((unsigned)handled < until) {
    unsigned y = 1;
    for (unsigned i = 0; i < 500; i++)
      y = y * 5 + i;
    x ^= y;
    rounds++;
  }
  return (rounds % 2 ? x != 7 : x == 7) && rounds;
}
FLICK_NXP static unsigned raises(int n) {
  unsigned x = 1;
  for (int i = 0; i < n; i++) {
    raise(SIGALRM);
    x = chain(x, 2);
  }
  return x;
}

int main(void) {
  expected = chain(seed, 20);
  signal(SIGALRM, handler);
  printf("%u\n", raises(10));
  struct itimerval t = {{0, 2000}, {0, 2000}}, off = {{0, 0}, {0, 0}};
  setitimer(ITIMER_REAL, &t, NULL);
  unsigned ran = busy(20);
  setitimer(ITIMER_REAL, &off, NULL);
  printf("%u %d %d\n", ran, wrong, handled >= 20);
}
