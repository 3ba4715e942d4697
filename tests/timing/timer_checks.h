// What the programs of tests/timing/timers.sh share. They run in virtual time, where durations are
// compared with formulas, and with PLAIN on the machine's clocks, where nothing may come early.
#ifndef TIMER_CHECKS_H
#define TIMER_CHECKS_H
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define SECOND 1000000000L

// What forms wait for, and what they compute for. Nanoseconds.
#ifdef PLAIN
#define UNIT 100000000L
#define WORK 20000000L
#else
#define UNIT SECOND
#define WORK 200000L
#endif

static inline void check(int good, const char *what) {
  if (good)
    return;
  printf("wrong: %s\n", what);
  exit(1);
}

static inline long clock_of(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return time.tv_sec * SECOND + time.tv_nsec;
}

// Nanoseconds since the run began.
static inline long now(void) { return clock_of(CLOCK_MONOTONIC) - SECOND; }

static inline long processor(void) { return clock_of(CLOCK_PROCESS_CPUTIME_ID); }

static inline void is_within(long time, long least, long most, const char *what) {
  if (time < least || time > most)
    printf("%s: at %ld ns, wanted %ld to %ld\n", what, time, least, most);
  check(time >= least && time <= most, what);
}

// Within a thousandth, and not before.
static inline void is_at(long time, long wanted, const char *what) {
#ifdef PLAIN
  is_within(time, wanted, wanted + 10 * SECOND, what);
#else
  is_within(time, wanted, wanted + wanted / 1000 + 20000, what);
#endif
}

// Without waiting for anything but, on a busy machine, a processor.
static inline void is_soon(long time, const char *what) {
#ifdef PLAIN
  is_within(time, 0, 10 * SECOND, what);
#else
  is_within(time, 0, UNIT / 100, what);
#endif
}

// As is_at, of processor time, which Linux counts by ticks for some timers. The library's calls
// take some of it.
static inline void is_spent(long time, long wanted, const char *what) {
#ifdef PLAIN
  is_within(time, wanted / 2, wanted + 10 * SECOND, what);
#else
  is_within(time, wanted, wanted + WORK / 4, what);
#endif
}

static volatile sig_atomic_t rang;
static volatile long rang_at;
static siginfo_t told;

static inline void rings(int signal) {
  (void)signal;
  rang++;
  rang_at = now();
}

static inline void rings_and_tells(int signal, siginfo_t *info, void *context) {
  (void)context;
  told = *info;
  rings(signal);
}

static inline void handle(int number, int flags) {
  struct sigaction action = {.sa_sigaction = rings_and_tells, .sa_flags = flags | SA_SIGINFO};
  check(sigaction(number, &action, NULL) == 0, "sigaction");
}

static inline struct timespec span(long time) {
  return (struct timespec){time / SECOND, time % SECOND};
}

static inline struct timeval short_span(long time) {
  return (struct timeval){time / SECOND, time % SECOND / 1000};
}

static inline void arm(int which, long time, long interval) {
  struct itimerval setting = {short_span(interval), short_span(time)};
  check(setitimer(which, &setting, NULL) == 0, "setitimer");
}

static inline void rest(long time) {
  struct timespec left = span(time);
  while (nanosleep(&left, &left) != 0)
    ;
}

struct form {
  const char *name;
  void (*run)(void);
};

// Runs the form of this name.
static inline int run_form(const struct form *forms, size_t count, const char *name) {
  for (size_t i = 0; i < count; i++) {
    if (strcmp(name, forms[i].name) == 0) {
      forms[i].run();
      return 0;
    }
  }
  puts("no such form");
  return 2;
}

#endif
