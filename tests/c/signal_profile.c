// A profiler's signals while NxP code computes: SIGPROF and SIGVTALRM by processor time, a POSIX
// timer with a value, one for a thread of its own (SIGEV_THREAD) whose function is NxP code, one
// for a given thread. The computation is undisturbed, and each handler interrupts it several times.
// OUT: 1 1 1 1 1 1
// SKIP-MODE: fault the threads of SIGEV_THREAD block SIGSEGV
// LIBS: -pthread -lrt
// SKIP-VALGRIND: the loop runs until timer signals arrive, which valgrind delays
#define _GNU_SOURCE
#include <flick.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static atomic_int profile, virtual_time, value, thread_calls, directed;
static pid_t main_thread;

FLICK_NXP static void on_profile(int signal) { profile += signal == SIGPROF; }
FLICK_HOST static void on_virtual(int signal) { virtual_time += signal == SIGVTALRM; }
FLICK_NXP static void on_value(int signal, siginfo_t *info, void *context) {
  value +=
      signal == SIGRTMIN && info->si_code == SI_TIMER && info->si_value.sival_int == 77 && context;
}
FLICK_HOST static void on_directed(int signal, siginfo_t *info, void *context) {
  (void)context;
  directed += signal == SIGRTMIN + 1 && info->si_value.sival_int == 78 && gettid() == main_thread;
}
FLICK_NXP static void on_thread(union sigval v) { thread_calls += v.sival_int == 79; }

static int enough(void) {
  return profile >= 2 && virtual_time >= 2 && value >= 2 && directed >= 2 && thread_calls >= 2;
}
FLICK_NXP static unsigned long compute(unsigned long *rounds) {
  unsigned long wrong = 0;
  do {
    unsigned long x = 88172645463325252UL, sum = 0;
    for (int i = 0; i < 5000; i++) {
      x ^= x << 13;
      x ^= x >> 7;
      x ^= x << 17;
      sum += x;
    }
    wrong += sum != 18291663775446678588UL;
    ++*rounds;
  } while (!enough() && *rounds < 2000000);
  return wrong;
}
static void start(clockid_t clock, struct sigevent *event) {
  timer_t t;
  struct itimerspec every = {{0, 3000000}, {0, 3000000}};
  if (timer_create(clock, event, &t) || timer_settime(t, 0, &every, NULL))
    perror("timer");
}

int main(void) {
  main_thread = gettid();
  struct sigaction a = {.sa_handler = on_profile, .sa_flags = SA_RESTART};
  sigaction(SIGPROF, &a, NULL);
  a.sa_handler = on_virtual;
  sigaction(SIGVTALRM, &a, NULL);
  a.sa_flags |= SA_SIGINFO;
  a.sa_sigaction = on_value;
  sigaction(SIGRTMIN, &a, NULL);
  a.sa_sigaction = on_directed;
  sigaction(SIGRTMIN + 1, &a, NULL);
  struct itimerval t = {{0, 4000}, {0, 4000}};
  setitimer(ITIMER_PROF, &t, NULL);
  setitimer(ITIMER_VIRTUAL, &t, NULL);
  struct sigevent e = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN};
  e.sigev_value.sival_int = 77;
  start(CLOCK_MONOTONIC, &e);
  struct sigevent d = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGRTMIN + 1};
  d.sigev_value.sival_int = 78;
  d._sigev_un._tid = main_thread;
  start(CLOCK_PROCESS_CPUTIME_ID, &d);
  struct sigevent f = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = on_thread};
  f.sigev_value.sival_int = 79;
  start(CLOCK_MONOTONIC, &f);
  unsigned long rounds = 0, wrong = compute(&rounds);
  printf("%d %d %d %d %d %d\n", wrong == 0, profile >= 2, virtual_time >= 2, value >= 2,
         directed >= 2, thread_calls >= 2);
}
