// NxP code takes nearly the whole stack by a recursion, and comes back. Then handlers interrupt a
// loop without calls, and cross. They find as much stack as natively, and the frames that they
// interrupt stay whole; so do those at the end of a recursion that has not come back.
// OUT: 320400 back 4 kept 2016
// OUT: 320400 back 4 kept 2016
// OUT: 320400 below 4 kept 2016
// OUT: 320400 below 4 kept 2016
// LIBS: -lpthread
// SKIP-VALGRIND: the loop runs until timer signals arrive, which valgrind delays
#include <flick.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>

enum { STACK = 1 << 20, DEPTH = 800, WIDE = 400, NARROW = 10, TIMES = 4 };

static volatile sig_atomic_t needs, handled, at_the_end;
static volatile long wrong;

FLICK_HOST __attribute__((noinline)) static long on_host(long depth);
FLICK_NXP __attribute__((noinline)) static long handler_frames(long depth) {
  volatile char frame[1000];
  frame[depth] = 1;
  return depth == 0 ? on_host(3) : handler_frames(depth - 1) + frame[depth];
}
FLICK_NXP __attribute__((noinline)) static long again(long depth) {
  volatile char frame[100];
  frame[depth] = 1;
  return on_host(depth - 1) + frame[depth];
}
FLICK_HOST __attribute__((noinline)) static long on_host(long depth) {
  return depth == 0 ? 0 : again(depth);
}

FLICK_HOST static void on_tick(int signal) {
  (void)signal;
  if (!needs || handled == TIMES)
    return;
  wrong += handler_frames(needs) != needs + 3;
  handled++;
}

FLICK_NXP __attribute__((noinline)) static void wait_for_handlers(int frames) {
  handled = 0;
  needs = frames;
  while (handled < TIMES)
    ;
  needs = 0;
}

FLICK_NXP __attribute__((noinline)) static long recurse(long depth) {
  volatile char frame[1000];
  frame[depth] = 1;
  if (depth == 0) {
    if (at_the_end)
      wait_for_handlers(NARROW);
    return 0;
  }
  return recurse(depth - 1) + depth * frame[depth];
}

FLICK_NXP __attribute__((noinline)) static void run(int end) {
  volatile long kept[64];
  for (long i = 0; i < 64; i++)
    kept[i] = i;
  at_the_end = end;
  long sum = recurse(DEPTH);
  if (!end) {
    // As above, without a call.
    handled = 0;
    needs = WIDE;
    while (handled < TIMES)
      ;
    needs = 0;
  }
  long all = 0;
  for (int i = 0; i < 64; i++)
    all += kept[i];
  printf("%ld %s %d kept %ld\n", sum, end ? "below" : "back", (int)handled, all);
}

FLICK_HOST static void *thread(void *unused) {
  (void)unused;
  sigset_t tick;
  sigemptyset(&tick);
  sigaddset(&tick, SIGALRM);
  pthread_sigmask(SIG_UNBLOCK, &tick, NULL);
  struct itimerval every = {{0, 2000}, {0, 2000}}, off = {{0, 0}, {0, 0}};
  setitimer(ITIMER_REAL, &every, NULL);
  for (int i = 0; i < 4; i++)
    run(i >= 2);
  setitimer(ITIMER_REAL, &off, NULL);
  return NULL;
}

FLICK_HOST int main(void) {
  sigset_t tick;
  sigemptyset(&tick);
  sigaddset(&tick, SIGALRM);
  pthread_sigmask(SIG_BLOCK, &tick, NULL);
  struct sigaction action = {.sa_handler = on_tick};
  sigaction(SIGALRM, &action, NULL);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, STACK);
  pthread_t other;
  if (pthread_create(&other, &attributes, thread, NULL) != 0)
    return 1;
  pthread_join(other, NULL);
  return wrong != 0;
}
