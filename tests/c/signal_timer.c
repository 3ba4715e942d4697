// A timer's signals interrupt an NxP loop that does not cross. Expects the loop's arithmetic to be
// undisturbed and at least five signals to be seen.
// OUT: 0 1
// SKIP-VALGRIND: the loop runs until timer signals arrive, which valgrind delays
#include <flick.h>
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>

static volatile sig_atomic_t ticks;
static volatile double spoiled;

static void on_tick(int signal) {
  ticks++;
  spoiled = ticks / 3.0 + signal;
}

struct result {
  unsigned y;
  double d;
};
static struct result expected;

FLICK_NXP static struct result compute(void) {
  struct result r = {0, 0};
  unsigned x = 1;
  for (unsigned i = 0; i < 1000; i++) {
    x = x * 1664525 + 1013904223;
    r.y ^= x >> 7;
    r.d += (x >> 16) * 0.1;
  }
  return r;
}
FLICK_NXP static int run(void) {
  int bad = 0;
  while (ticks < 5) {
    struct result r = compute();
    bad += r.y != expected.y || r.d != expected.d;
  }
  return bad;
}

int main(void) {
  expected = compute();
  signal(SIGALRM, on_tick);
  struct itimerval t = {{0, 2000}, {0, 2000}}, off = {{0, 0}, {0, 0}};
  setitimer(ITIMER_REAL, &t, NULL);
  int bad = run();
  setitimer(ITIMER_REAL, &off, NULL);
  printf("%d %d\n", bad, ticks >= 5);
}
