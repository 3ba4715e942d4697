// Timers that outlive the program or are inherited: `kept_timers FORM [BEGAN]`. An alarm stays
// through exec, and files of timers are there in the child of a fork.
#define _GNU_SOURCE
#include "timer_checks.h"
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/timerfd.h>
#include <sys/wait.h>

extern char **environ;
static const char *own;

// When the first program set its alarm: the clocks of a timed program begin anew.
static char began_text[32];

// What is executed gets the alarm: at 5 units, and every unit again.
static void begin(void) {
  snprintf(began_text, sizeof began_text, "%ld", now());
  arm(ITIMER_REAL, 5 * UNIT, UNIT);
  rest(2 * UNIT);
}

static void goes_on(const char *began) {
  handle(SIGALRM, SA_RESTART);
#ifdef PLAIN
  long base = atol(began) + 2 * UNIT;
#else
  // What it had computed until exec.
  (void)began;
  long base = -2000;
#endif
  for (int i = 0; i < 3; i++) {
    while (rang == i)
      pause();
    is_at(rang_at - base, (3 + i) * UNIT, "an alarm behind exec");
  }
}

static char *const *words(void) {
  static char *all[] = {"kept_timers", "goes-on", began_text, NULL};
  return all;
}

static void by_execve(void) {
  begin();
  execve(own, words(), environ);
}

static void by_execv(void) {
  begin();
  execv(own, words());
}

static void by_execvp(void) {
  begin();
  execvp(own, words());
}

static void by_execvpe(void) {
  begin();
  execvpe(own, words(), environ);
}

static void by_execl(void) {
  begin();
  execl(own, "kept_timers", "goes-on", began_text, NULL);
}

static void by_execlp(void) {
  begin();
  execlp(own, "kept_timers", "goes-on", began_text, "3", "4", "5", "6", "7", "8", NULL);
}

static void by_execle(void) {
  begin();
  execle(own, "kept_timers", "goes-on", began_text, "3", "4", "5", "6", NULL, environ);
}

static void by_fexecve(void) {
  begin();
  fexecve(open(own, O_RDONLY | O_CLOEXEC), words(), environ);
}

static void by_execveat(void) {
  begin();
  execveat(AT_FDCWD, own, words(), environ, 0);
}

// A program that cannot be executed: the alarm stays here.
static void fails(void) {
  handle(SIGALRM, SA_RESTART);
  long began = now();
  begin();
  check(execl("/no/such/program", "program", NULL) == -1 && errno == ENOENT, "execl");
  check(execve("/no/such/program", words(), environ) == -1 && errno == ENOENT, "execve");
  pause();
  is_at(now() - began, 5 * UNIT, "an alarm behind an exec that fails");
}

// A program that is not timed gets it from the machine.
static void plainly(void) {
  char *none[] = {NULL};
  arm(ITIMER_REAL, SECOND / 10, 0);
  execle("/bin/sh", "sh", "-c", "trap 'exit 0' ALRM; sleep 20 & wait; exit 1", NULL, none);
}

// A program that is timed gets one that is the machine's.
static void leaves(void) {
  arm(ITIMER_REAL, 60 * SECOND, 0);
  execl(getenv("NEXT"), "next", "clocks", NULL);
}

// No alarm in a child.
static void forks(void) {
  handle(SIGALRM, SA_RESTART);
  long began = now();
  timer_t timer;
  check(timer_create(CLOCK_MONOTONIC, NULL, &timer) == 0, "timer_create");
  struct itimerspec setting = {.it_value = span(5 * UNIT), .it_interval = span(4 * UNIT)}, left;
  check(timer_settime(timer, 0, &setting, NULL) == 0, "timer_settime");
  arm(ITIMER_REAL, 3 * UNIT, 0);
  int files[2] = {timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK),
                  timerfd_create(CLOCK_REALTIME, 0)};
  uint64_t count = 0;
  check(timerfd_settime(files[1], 0, &setting, NULL) == 0, "timerfd_settime");
  setting = (struct itimerspec){.it_value = span(UNIT)};
  check(timerfd_settime(files[0], 0, &setting, NULL) == 0, "timerfd_settime");
  rest(2 * UNIT);
  pid_t child = fork();
  if (child == 0) {
    struct itimerval alarm;
#ifdef PLAIN
    long forked = began + 2 * UNIT;
#else
    // The clocks of a child begin anew. What it has computed until fork is gone.
    long forked = now() - 2000;
#endif
    check(getitimer(ITIMER_REAL, &alarm) == 0 && alarm.it_value.tv_sec == 0, "a child's alarm");
    check(timer_gettime(timer, &left) == -1 && errno == EINVAL, "a child's timer");
    check(fcntl(files[0], F_GETFD) == FD_CLOEXEC, "a flag of a file");
    check(read(files[0], &count, sizeof count) == sizeof count && count == 1,
          "one that has expired");
    check(read(files[0], &count, sizeof count) == -1 && errno == EAGAIN, "one without a timer");
    check(read(files[1], &count, sizeof count) == sizeof count && count == 1, "a child's file");
    is_at(now() - forked, 3 * UNIT, "a child's file");
    check(read(files[1], &count, sizeof count) == sizeof count && count == 1, "an interval");
    is_at(now() - forked, 7 * UNIT, "an interval of a child's file");
    exit(rang != 0);
  }
  int status;
  check(waitpid(child, &status, 0) == child && status == 0, "the child");
#ifndef PLAIN
  // Each process has its own.
  check(rang == 0, "the parent's time");
  while (rang < 2)
    pause();
  is_at(now() - began, 5 * UNIT, "the parent's timer");
  check(read(files[1], &count, sizeof count) == sizeof count && count == 1, "the parent's file");
  is_at(now() - began, 5 * UNIT, "the parent's file");
#endif
}

static const struct form forms[] = {
    {"execve", by_execve}, {"execv", by_execv},     {"execvp", by_execvp},
    {"execl", by_execl},   {"execlp", by_execlp},   {"execvpe", by_execvpe},
    {"execle", by_execle}, {"fexecve", by_fexecve}, {"execveat", by_execveat},
    {"fails", fails},      {"plainly", plainly},    {"leaves", leaves},
    {"forks", forks},
};

int main(int argc, char **argv) {
  if (argc > 2) {
    goes_on(argv[2]);
    return 0;
  }
  own = argv[0];
  int status = run_form(forms, sizeof forms / sizeof *forms, argc > 1 ? argv[1] : "");
  if (argc > 1 && strstr(argv[1], "exec"))
    check(0, "exec");
  return status;
}
