// Timers that outlive the program or are inherited: `kept_timers FORM [BEGAN]`. An alarm and open
// files of timers stay through exec, and the files are there in the child of a fork.
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

// When the clocks of the program that is executed began, if that was this long after the first's.
static long base_of(const char *began, long after) {
#ifdef PLAIN
  return atol(began) + after;
#else
  // What the first had computed until exec is gone.
  (void)began, (void)after;
  return -2000;
#endif
}

static void goes_on(const char *began) {
  handle(SIGALRM, SA_RESTART);
  long base = base_of(began, 2 * UNIT);
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

static void arm_file(int file, long time, long interval) {
  struct itimerspec setting = {.it_value = span(time), .it_interval = span(interval)};
  check(timerfd_settime(file, 0, &setting, NULL) == 0, "timerfd_settime");
}

static long expired(int file) {
  uint64_t count;
  return read(file, &count, sizeof count) == sizeof count ? (long)count : -1;
}

// One with an end, one with an interval that has expired twice, one that is closed, one not set.
static int timer_of[4];

static void begin_files(void) {
  snprintf(began_text, sizeof began_text, "%ld", now());
  for (int i = 0; i < 4; i++) {
    int flags = (i == 0 ? 0 : TFD_NONBLOCK) | (i == 2 ? TFD_CLOEXEC : 0);
    timer_of[i] = timerfd_create(i == 1 ? CLOCK_REALTIME : CLOCK_MONOTONIC, flags);
  }
  arm_file(timer_of[0], 5 * UNIT, 0);
  arm_file(timer_of[1], UNIT, 2 * UNIT);
  arm_file(timer_of[2], UNIT, 0);
  rest(4 * UNIT + UNIT / 2);
}

static void files_go_on(long base) {
  struct itimerspec left;
  check(timerfd_gettime(timer_of[0], &left) == 0, "timerfd_gettime");
  check(left.it_value.tv_sec * SECOND + left.it_value.tv_nsec <= UNIT / 2, "what is left");
  check(expired(timer_of[1]) == 2, "what had expired before");
  check(expired(timer_of[1]) == -1 && errno == EAGAIN, "what was read");
  check(expired(timer_of[3]) == -1 && errno == EAGAIN, "one that is not set");
  check(expired(timer_of[0]) == 1, "a file behind exec");
  is_at(now() - base, UNIT / 2, "a file behind exec");
  rest(2 * UNIT);
  check(expired(timer_of[1]) == 2, "an interval behind exec");
}

static void exec_files(void) {
  char files[64];
  begin_files();
  snprintf(files, sizeof files, "%d %d %d %d", timer_of[0], timer_of[1], timer_of[2], timer_of[3]);
  execl(own, "kept_timers", "files", began_text, files, NULL);
}

static void files_of_arguments(char **argv) {
  check(sscanf(argv[3], "%d %d %d %d", timer_of, timer_of + 1, timer_of + 2, timer_of + 3) == 4,
        "files");
  check(fcntl(timer_of[2], F_GETFD) == -1 && errno == EBADF, "one that exec closes");
  files_go_on(base_of(argv[2], 4 * UNIT + UNIT / 2));
  // The next program gets none.
  for (int i = 0; i < 4; i++)
    close(timer_of[i]);
  execl("/proc/self/exe", "kept_timers", "no-files", NULL);
}

static void no_files(void) {
  check(getenv("FLICK_TIMER_FILES") == NULL, "an environment without timers");
  handle(SIGALRM, 0);
  arm(ITIMER_REAL, UNIT, 0);
  pause();
}

// A program that cannot be executed: the files stay as they were.
static void files_stay(void) {
  long base = now() + 4 * UNIT + UNIT / 2;
  begin_files();
  check(execl("/no/such/program", "program", NULL) == -1 && errno == ENOENT, "execl");
  files_go_on(base);
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
    {"execve", by_execve},  {"execv", by_execv},        {"execvp", by_execvp},
    {"execl", by_execl},    {"execlp", by_execlp},      {"execvpe", by_execvpe},
    {"execle", by_execle},  {"fexecve", by_fexecve},    {"execveat", by_execveat},
    {"fails", fails},       {"plainly", plainly},       {"leaves", leaves},
    {"forks", forks},       {"exec-files", exec_files}, {"files-stay", files_stay},
    {"no-files", no_files},
};

int main(int argc, char **argv) {
  if (argc > 3 && strcmp(argv[1], "files") == 0) {
    files_of_arguments(argv);
    return 0;
  }
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
