// Timers in virtual time: `timers FORM`. Each form is exact, compares when timers expire with a
// formula, and takes none of the machine's time: an hour of a timer is over at once.
#define _GNU_SOURCE
#include "timer_checks.h"
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdint.h>
#include <sys/timerfd.h>

// A loop that reads a volatile variable, and one that never ends by itself.
static void spins(void) {
  handle(SIGALRM, 0);
  long began = now();
  setitimer(ITIMER_REAL, &(struct itimerval){.it_value.tv_usec = 2000}, NULL);
  while (!rang)
    ;
  is_at(rang_at - began, 2000000, "a timer of a loop");
  check(told.si_signo == SIGALRM && told.si_code == SI_KERNEL, "what the handler was told");
  check(alarm(7) == 0, "no timer");
  check(alarm(0) == 7, "what is left of a timer");
}

static void pauses(void) {
  handle(SIGALRM, SA_RESTART);
  long began = now();
  alarm(3600);
  check(pause() == -1 && errno == EINTR, "pause");
  is_at(rang_at - began, 3600 * SECOND, "an hour");
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGALRM);
  sigprocmask(SIG_BLOCK, &set, NULL);
  int number;
  alarm(5);
  check(sigwait(&set, &number) == 0 && number == SIGALRM && rang == 1, "sigwait");
  is_at(now() - began, 3605 * SECOND, "all of it");
}

// Sleeping ends with EINTR, and says what is left.
static void sleeps(void) {
  handle(SIGALRM, SA_RESTART);
  long began = now();
  struct timespec left = {0};
  alarm(2);
  check(nanosleep(&(struct timespec){.tv_sec = 5}, &left) == -1 && errno == EINTR, "nanosleep");
  is_at(now() - began, 2 * SECOND, "a sleep that is over");
  check(left.tv_sec == 3 && left.tv_nsec < 1000000, "what is left of a sleep");
  alarm(2);
  check(sleep(10) == 8 && rang == 2, "sleep");
  // None comes.
  alarm(100);
  check(sleep(10) == 0 && rang == 2, "sleep");
  check(alarm(0) == 90, "what is left of a timer");
}

// Ten times, with an interval, and once more behind a change.
static void intervals(void) {
  handle(SIGALRM, SA_RESTART);
  long began = now();
  struct itimerval every = {.it_value.tv_usec = 1500, .it_interval.tv_usec = 1000}, left;
  setitimer(ITIMER_REAL, &every, NULL);
  for (int i = 0; i < 10; i++) {
    while (rang == i)
      ;
    is_at(rang_at - began, 1500000 + i * 1000000L, "an interval");
  }
  getitimer(ITIMER_REAL, &left);
  check(left.it_interval.tv_usec == 1000 && left.it_value.tv_usec <= 1000, "getitimer");
  setitimer(ITIMER_REAL, &(struct itimerval){0}, &left);
  check(left.it_interval.tv_usec == 1000, "what a timer was");
  usleep(10000);
  check(rang == 10, "a timer that is not set");
}

// Timers of POSIX: values, clocks, overruns, and the thread that gets the signal.
static void posix(void) {
  handle(SIGRTMIN, SA_RESTART);
  timer_t timer;
  struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN};
  event.sigev_value.sival_int = 77;
  check(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0, "timer_create");
  struct itimerspec setting = {.it_value.tv_sec = 60}, left;
  long began = now();
  timer_settime(timer, 0, &setting, NULL);
  timer_gettime(timer, &left);
  check(left.it_value.tv_sec == 59 && left.it_interval.tv_sec == 0, "timer_gettime");
  pause();
  is_at(rang_at - began, 60 * SECOND, "a timer");
  check(told.si_code == SI_TIMER && told.si_value.sival_int == 77, "what the handler was told");
  // An absolute time.
  began = now();
  clock_gettime(CLOCK_MONOTONIC, &setting.it_value);
  setting.it_value.tv_sec += 9;
  timer_settime(timer, TIMER_ABSTIME, &setting, NULL);
  pause();
  is_at(rang_at - began, 9 * SECOND, "an absolute time");
  // Five expirations while the signal is blocked: one signal, which says that four more were.
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGRTMIN);
  setting = (struct itimerspec){.it_value.tv_sec = 1, .it_interval.tv_sec = 1};
  timer_settime(timer, 0, &setting, NULL);
  // The handler runs at the next stated point, behind time without one.
  pause();
  check(timer_getoverrun(timer) == 0, "no overrun");
  check(timer_delete(timer) == 0, "timer_delete");
  rang = 0;
  sleep(10);
  check(rang == 0, "a timer that is no more");
}

static int pair[2];

static void *reads(void *unused) {
  char byte;
  check(read(pair[0], &byte, 1) == 1, "read");
  return unused;
}

// The first thread gets the signal while it waits for another one to end; the other one goes on.
static void threads(void) {
  handle(SIGALRM, SA_RESTART);
  check(pipe(pair) == 0, "pipe");
  pthread_t thread;
  pthread_create(&thread, NULL, reads, NULL);
  long began = now();
  alarm(10);
  // Blocked until its own timer has expired twice.
  pthread_t waits;
  pthread_create(&waits, NULL, reads, NULL);
  usleep(15000000);
  is_at(now() - began, 10 * SECOND, "a sleep that a timer has ended");
  check(rang == 1, "a signal in a sleep");
  check(write(pair[1], "ab", 2) == 2, "write");
  pthread_join(thread, NULL);
  pthread_join(waits, NULL);
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t barrier;
static int done;

static void *works(void *unused) {
  sleep(100);
  pthread_barrier_wait(&barrier);
  sleep(100);
  pthread_mutex_lock(&mutex);
  sleep(50);
  done = 1;
  pthread_cond_signal(&condition);
  pthread_mutex_unlock(&mutex);
  sleep(100);
  return unused;
}

// Handlers run in time while the first thread waits at a barrier, for a lock, a condition and an
// end.
static void waits(void) {
  handle(SIGALRM, SA_RESTART);
  pthread_barrier_init(&barrier, NULL, 2);
  pthread_t thread;
  long began = now();
  pthread_create(&thread, NULL, works, NULL);
  setitimer(ITIMER_REAL, &(struct itimerval){{10, 0}, {10, 0}}, NULL);
  pthread_barrier_wait(&barrier);
  is_at(now() - began, 100 * SECOND, "a barrier");
  check(rang >= 9 && rang <= 10, "signals at a barrier");
  is_at(rang_at - began, rang * 10 * SECOND, "the last signal at a barrier");
  pthread_mutex_lock(&mutex);
  while (!done)
    pthread_cond_wait(&condition, &mutex);
  pthread_mutex_unlock(&mutex);
  is_at(now() - began, 250 * SECOND, "a condition");
  check(rang >= 24 && rang <= 25, "signals before a condition");
  pthread_join(thread, NULL);
  is_at(now() - began, 350 * SECOND, "an end");
  check(rang >= 34 && rang <= 35, "signals before an end");
}

// A read is over without SA_RESTART, and goes on with it; a poll is over.
static void data(void) {
  char byte;
  check(pipe(pair) == 0, "pipe");
  pthread_t thread;
  handle(SIGALRM, 0);
  long began = now();
  alarm(4);
  check(read(pair[0], &byte, 1) == -1 && errno == EINTR, "a read that a signal ends");
  is_at(now() - began, 4 * SECOND, "a read");
  handle(SIGALRM, SA_RESTART);
  alarm(4);
  struct pollfd files = {.fd = pair[0], .events = POLLIN};
  check(poll(&files, 1, 9000) == -1 && errno == EINTR, "a poll that a signal ends");
  is_at(now() - began, 8 * SECOND, "a poll");
  check(write(pair[1], "a", 1) == 1, "write");
  alarm(4);
  pthread_create(&thread, NULL, reads, NULL);
  pthread_join(thread, NULL);
  check(rang == 2 && alarm(0) == 4, "no signal");
}

// Files of timers: read, polled, counted.
static void files(void) {
  int timer = timerfd_create(CLOCK_REALTIME, 0);
  uint64_t count = 0;
  long began = now();
  struct itimerspec setting = {.it_value.tv_sec = 30, .it_interval.tv_sec = 10}, left;
  check(timerfd_settime(timer, 0, &setting, NULL) == 0, "timerfd_settime");
  check(read(timer, &count, sizeof count) == sizeof count && count == 1, "a read");
  is_at(now() - began, 30 * SECOND, "a read of a timer");
  sleep(35);
  check(read(timer, &count, sizeof count) == sizeof count && count == 3, "three expirations");
  timerfd_gettime(timer, &left);
  check(left.it_value.tv_sec == 4 && left.it_interval.tv_sec == 10, "timerfd_gettime");
  struct pollfd all = {.fd = timer, .events = POLLIN};
  check(poll(&all, 1, 1000) == 0, "a poll that is over before");
  check(poll(&all, 1, 100000) == 1, "a poll of a timer");
  is_at(now() - began, 70 * SECOND, "a poll of a timer");
  check(read(timer, &count, sizeof count) == sizeof count && count == 1, "a read");
  check(timerfd_settime(timer, 0, &(struct itimerspec){0}, &left) == 0, "timerfd_settime");
  check(left.it_interval.tv_sec == 10, "what a timer was");
  check(poll(&all, 1, 100000) == 0, "a timer that is not set");
  is_at(now() - began, 170 * SECOND, "a poll without a timer");
  check(read(timer, &count, 4) == -1 && errno == EINVAL, "a buffer that is too small");
}

static sigjmp_buf away;

static void leaves(int signal) {
  (void)signal;
  siglongjmp(away, 1);
}

// A handler that leaves what waits, and one that sets the next timer.
static void sets_the_next(int signal) {
  rings(signal);
  if (rang < 4)
    alarm(rang);
}

static void jumps(void) {
  signal(SIGALRM, leaves);
  check(pipe(pair) == 0, "pipe");
  long began = now();
  char byte;
  if (sigsetjmp(away, 1) == 0) {
    alarm(3);
    check(read(pair[0], &byte, 1) != 1, "a read that a handler leaves");
    check(0, "a handler that leaves");
  }
  is_at(now() - began, 3 * SECOND, "a handler that leaves");
  signal(SIGALRM, sets_the_next);
  alarm(1);
  while (rang < 4)
    pause();
  is_at(now() - began, 10 * SECOND, "handlers that set the next timer");
}

static const struct form forms[] = {
    {"spins", spins}, {"pauses", pauses},   {"sleeps", sleeps}, {"intervals", intervals},
    {"posix", posix}, {"threads", threads}, {"waits", waits},   {"data", data},
    {"files", files}, {"jumps", jumps},
};

int main(int argc, char **argv) {
  return run_form(forms, sizeof forms / sizeof *forms, argc > 1 ? argv[1] : "");
}
