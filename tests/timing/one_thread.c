// Calls that take time in a program with one thread, before an order begins: `one_thread FORM`.
#define _GNU_SOURCE
#include "timer_checks.h"
#include <errno.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <sys/times.h>
#include <sys/wait.h>

static int ends[2];

static void open_ends(void) { check(pipe(ends) == 0, "pipe"); }

static fd_set set_of(int file) {
  fd_set files;
  FD_ZERO(&files);
  FD_SET(file, &files);
  return files;
}

// Without files they sleep.
static void rests(void) {
  struct timespec time = span(2 * UNIT);
  struct timeval limit = short_span(3 * UNIT);
  struct pollfd none = {.fd = -1, .events = POLLIN};
  sigset_t all;
  sigfillset(&all);
  fd_set empty;
  FD_ZERO(&empty);
  long began = now(), computed = processor();
  check(poll(NULL, 0, UNIT / 1000000) == 0, "poll");
  is_at(now() - began, UNIT, "poll");
  check(poll(&none, 1, UNIT / 1000000) == 0 && none.revents == 0, "poll without a file");
  is_at(now() - began, 2 * UNIT, "poll without a file");
  check(ppoll(NULL, 0, &time, NULL) == 0, "ppoll");
  is_at(now() - began, 4 * UNIT, "ppoll");
  check(ppoll(NULL, 0, &time, &all) == 0, "ppoll with a mask");
  is_at(now() - began, 6 * UNIT, "ppoll with a mask");
  check(select(0, NULL, NULL, NULL, &limit) == 0, "select");
  is_at(now() - began, 9 * UNIT, "select");
  check(limit.tv_sec == 0 && limit.tv_usec == 0, "what is left");
  check(pselect(8, &empty, NULL, &empty, &time, NULL) == 0, "pselect");
  is_at(now() - began, 11 * UNIT, "pselect");
  check(time.tv_sec * SECOND + time.tv_nsec == 2 * UNIT, "its time");
  check(processor() - computed < UNIT, "sleeping takes no processor time");
  limit.tv_usec = -1;
  check(select(0, NULL, NULL, NULL, &limit) == -1 && errno == EINVAL, "a wrong time");
  time.tv_nsec = SECOND;
  check(ppoll(NULL, 0, &time, NULL) == -1 && errno == EINVAL, "a wrong time");
}

// A signal that the mask lets through, and that is pending.
static void masks(void) {
  sigset_t none, usr1;
  sigemptyset(&none);
  sigemptyset(&usr1);
  sigaddset(&usr1, SIGUSR1);
  handle(SIGUSR1, SA_RESTART);
  sigprocmask(SIG_BLOCK, &usr1, NULL);
  struct timespec time = span(5 * UNIT);
  long began = now();
  raise(SIGUSR1);
  check(ppoll(NULL, 0, &time, &none) == -1 && errno == EINTR && rang == 1, "ppoll");
  raise(SIGUSR1);
  check(ppoll(NULL, 0, &time, NULL) == 0 && rang == 1, "ppoll with the thread's mask");
  check(pselect(0, NULL, NULL, NULL, &time, &none) == -1 && errno == EINTR && rang == 2, "pselect");
  is_at(now() - began, 5 * UNIT, "one time of ppoll");
}

// The time of those with files is charged when it is over.
static void files(void) {
  open_ends();
  struct pollfd file = {.fd = ends[0], .events = POLLIN};
  struct timespec time = span(UNIT / 10);
  struct timeval limit = short_span(UNIT / 10);
  long began = now();
  check(poll(&file, 1, UNIT / 10000000) == 0 && file.revents == 0, "poll");
  check(ppoll(&file, 1, &time, NULL) == 0, "ppoll");
  is_at(now() - began, 2 * UNIT / 10, "the time of poll");
  fd_set reads = set_of(ends[0]);
  check(select(ends[0] + 1, &reads, NULL, NULL, &limit) == 0, "select");
  check(!FD_ISSET(ends[0], &reads) && limit.tv_sec == 0 && limit.tv_usec == 0, "select's answer");
  reads = set_of(ends[0]);
  check(pselect(ends[0] + 1, &reads, NULL, NULL, &time, NULL) == 0, "pselect");
  is_at(now() - began, 4 * UNIT / 10, "the time of select");
}

// What does not sleep takes no time.
static void data(void) {
  open_ends();
  struct pollfd file = {.fd = ends[1], .events = POLLOUT};
  struct timespec time = span(60 * SECOND);
  struct timeval limit = short_span(60 * SECOND);
  long began = now();
  check(poll(NULL, 0, 0) == 0, "a poll without time");
  check(poll(&file, 1, 60000) == 1 && file.revents == POLLOUT, "poll");
  check(ppoll(&file, 1, &time, NULL) == 1, "ppoll");
  fd_set writes = set_of(ends[1]);
  check(select(ends[1] + 1, NULL, &writes, NULL, &limit) == 1, "select");
#ifndef PLAIN
  check(limit.tv_sec == 60 && limit.tv_usec == 0, "what is left: data takes no time");
#endif
  check(FD_ISSET(ends[1], &writes) && limit.tv_sec >= 58, "select's answer");
  check(pselect(ends[1] + 1, NULL, &writes, NULL, &time, NULL) == 1, "pselect");
  is_at(now() - began, 0, "what does not sleep");
  // Another process writes, in the machine's time.
  pid_t child = fork();
  if (child == 0)
    _exit(usleep(50000) != 0 || write(ends[1], "a", 1) != 1);
  file = (struct pollfd){.fd = ends[0], .events = POLLIN};
  check(poll(&file, 1, -1) == 1 && file.revents == POLLIN, "data of another process");
  is_at(now() - began, 0, "data of another process");
  int status;
  check(waitpid(child, &status, 0) == child && status == 0, "the child");
  // A set ends where the process's table of files ends, whatever the count is.
  long page = sysconf(_SC_PAGESIZE);
  char *pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  check(pages != MAP_FAILED && mprotect(pages + page, page, PROT_NONE) == 0, "pages");
  fd_set *last = (fd_set *)(pages + page - sizeof *last);
  FD_SET(ends[1], last);
  limit = short_span(60 * SECOND);
  check(select(1 << 20, NULL, last, NULL, &limit) == 1 && FD_ISSET(ends[1], last), "many files");
}

// Data that comes before the time is over is the machine's.
static void race(void) {
  open_ends();
  pid_t child = fork();
  // By the machine's clock: its own is virtual.
  if (child == 0)
    _exit(syscall(SYS_nanosleep, &(struct timespec){.tv_nsec = 50000000}, NULL) != 0 ||
          write(ends[1], "a", 1) != 1);
  struct pollfd file = {.fd = ends[0], .events = POLLIN};
  check(poll(&file, 1, 60000) == 1 && file.revents == POLLIN, "data of another process");
  int status;
  check(waitpid(child, &status, 0) == child && status == 0, "the child");
}

static volatile long spent;

static void spend(long time) {
  long until = processor() + time;
  while (processor() < until)
    spent++;
}

static long used(int who) {
  struct rusage usage;
  check(getrusage(who, &usage) == 0 && usage.ru_maxrss > 0, "getrusage");
  return (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * SECOND +
         (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1000L;
}

// What a process and a thread have used, by all calls that say it.
static void usage(void) {
  const long tick = SECOND / 100;
  long process = used(RUSAGE_SELF), thread = used(RUSAGE_THREAD);
  struct tms first, last;
  clock_t began = times(&first);
  rest(5 * UNIT);
  spend(5 * WORK);
  is_spent(used(RUSAGE_SELF) - process + 1000, 5 * WORK, "the process's time");
  is_spent(used(RUSAGE_THREAD) - thread + 1000, 5 * WORK, "the thread's time");
  clock_t ended = times(&last);
  is_within((ended - began) * tick, 5 * UNIT - tick, 15 * UNIT, "what times() returns");
  long ticks = (last.tms_utime + last.tms_stime) * tick;
#ifndef PLAIN
  is_within(ticks, processor() - tick, processor(), "what times() has");
  is_within((times(NULL) - ended) * tick, 0, tick, "times() without a place");
#else
  check(ticks >= 0, "what times() has");
#endif
  check(getrusage(77, &(struct rusage){0}) == -1 && errno == EINVAL, "a wrong call");
}

static const struct form forms[] = {
    {"rests", rests}, {"masks", masks}, {"files", files},
    {"data", data},   {"usage", usage}, {"race", race},
};

int main(int argc, char **argv) {
  return run_form(forms, sizeof forms / sizeof *forms, argc > 1 ? argv[1] : "");
}
