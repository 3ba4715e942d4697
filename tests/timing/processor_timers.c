// Timers of processor time, and its clocks: `processor_timers FORM`. Waiting and sleeping take none
// of it, and a process's is that of its threads together.
#define _GNU_SOURCE
#include "timer_checks.h"
#include <errno.h>
#include <pthread.h>

static volatile long spent;

// Computes for so long.
static void spend(long time) {
  long until = clock_of(CLOCK_THREAD_CPUTIME_ID) + time;
  while (clock_of(CLOCK_THREAD_CPUTIME_ID) < until)
    spent++;
}

static volatile long rang_after;

static void rings_by_processor(int signal) {
  rings(signal);
  rang_after = processor();
}

static void clocks(void) {
  long began = processor(), now_began = now();
  clock_t ticks = clock();
  rest(5 * UNIT);
  check(processor() - began < UNIT / 2, "sleeping takes no processor time");
  is_at(now() - now_began, 5 * UNIT, "sleeping");
  spend(3 * WORK);
  is_spent(processor() - began, 3 * WORK, "the process's clock");
  is_spent((clock() - ticks + 1) * 1000L, 3 * WORK, "clock()");
  clockid_t own, process;
  check(pthread_getcpuclockid(pthread_self(), &own) == 0, "pthread_getcpuclockid");
  check(clock_getcpuclockid(getpid(), &process) == 0, "clock_getcpuclockid");
  check(clock_of(own) <= clock_of(process) && clock_of(own) >= 3 * WORK, "clocks by number");
}

// Behind a sleep, which does not count; once and again.
static void by_process(int which, int number) {
  signal(number, rings_by_processor);
  long began = processor();
  arm(which, 3 * WORK, 2 * WORK);
  rest(5 * UNIT);
  check(rang == 0, "a timer of processor time in a sleep");
  struct itimerval left;
  check(getitimer(which, &left) == 0, "getitimer");
  check(left.it_interval.tv_usec == 2 * WORK / 1000, "an interval");
  check(left.it_value.tv_usec > 2 * WORK / 1000, "what is left");
  for (int i = 0; i < 4; i++) {
    while (rang == i)
      spent++;
    is_spent(rang_after - began, (3 + 2 * i) * WORK, "an expiration");
  }
  arm(which, 0, 0);
  int count = rang;
  spend(4 * WORK);
  check(rang == count, "a timer that is not set");
}

static void profiles(void) { by_process(ITIMER_PROF, SIGPROF); }

static void virtual(void) { by_process(ITIMER_VIRTUAL, SIGVTALRM); }

static void *spends(void *time) {
  spend((long)time);
  return NULL;
}

// All threads count for the process, and one for a thread's timer.
static void threads(void) {
  signal(SIGPROF, rings_by_processor);
  pthread_t other[2];
  long began = processor();
  arm(ITIMER_PROF, 7 * WORK, 0);
  for (int i = 0; i < 2; i++)
    pthread_create(&other[i], NULL, spends, (void *)(20 * WORK));
  for (int i = 0; i < 2; i++)
    pthread_join(other[i], NULL);
  check(rang == 1, "the threads together");
  is_spent(rang_after - began, 7 * WORK, "the threads together");
  timer_t timer;
  struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN};
  handle(SIGRTMIN, SA_RESTART);
  check(timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer) == 0, "timer_create");
  long own = clock_of(CLOCK_THREAD_CPUTIME_ID);
  struct itimerspec setting = {.it_value = span(3 * WORK)}, left;
  check(timer_settime(timer, 0, &setting, NULL) == 0, "timer_settime");
  pthread_create(&other[0], NULL, spends, (void *)(5 * WORK));
  pthread_join(other[0], NULL);
  check(rang == 1, "another thread's time");
  check(timer_gettime(timer, &left) == 0 && left.it_value.tv_nsec > 2 * WORK, "timer_gettime");
  while (rang == 1)
    spent++;
  is_spent(clock_of(CLOCK_THREAD_CPUTIME_ID) - own, 3 * WORK, "the thread's time");
  check(told.si_code == SI_TIMER, "what the handler was told");
  // An absolute time of the process.
  timer_t whole;
  check(timer_create(CLOCK_PROCESS_CPUTIME_ID, &event, &whole) == 0, "timer_create");
  long until = processor() + 2 * WORK;
  setting.it_value = span(until);
  check(timer_settime(whole, TIMER_ABSTIME, &setting, NULL) == 0, "timer_settime");
  while (rang == 2)
    spent++;
  is_spent(processor(), until, "an absolute time");
  timer_delete(timer);
  timer_delete(whole);
}

// Sleeping until the other thread has computed for so long.
static void sleeps(void) {
  struct timespec time = span(3 * WORK), left = {0};
  check(clock_nanosleep(CLOCK_THREAD_CPUTIME_ID, 0, &time, NULL) == EINVAL, "the own thread's");
  pthread_t other;
  long began = processor();
  pthread_create(&other, NULL, spends, (void *)(5 * WORK));
  check(clock_nanosleep(CLOCK_PROCESS_CPUTIME_ID, 0, &time, NULL) == 0, "clock_nanosleep");
  is_spent(processor() - began, 3 * WORK, "a sleep of processor time");
  check(processor() - began < 5 * WORK, "not too long");
  handle(SIGALRM, 0);
  arm(ITIMER_REAL, WORK / 2, WORK / 2);
  time = span(100 * WORK);
  check(clock_nanosleep(CLOCK_PROCESS_CPUTIME_ID, 0, &time, &left) == EINTR, "one that ends");
  arm(ITIMER_REAL, 0, 0);
  check(rang >= 1 && left.tv_sec * SECOND + left.tv_nsec < 100 * WORK, "what is left");
  pthread_join(other, NULL);
  time = span(began);
  int result = clock_nanosleep(CLOCK_PROCESS_CPUTIME_ID, TIMER_ABSTIME, &time, NULL);
  check(result == 0, "what is past");
}

static const struct form forms[] = {
    {"clocks", clocks},   {"profiles", profiles}, {"virtual", virtual},
    {"threads", threads}, {"sleeps", sleeps},
};

int main(int argc, char **argv) {
  return run_form(forms, sizeof forms / sizeof *forms, argc > 1 ? argv[1] : "");
}
