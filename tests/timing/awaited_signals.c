// Waiting for signals of timers and of threads: `awaited_signals FORM`.
#define _GNU_SOURCE
#include "timer_checks.h"
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/select.h>

static sigset_t only(int number) {
  sigset_t set;
  sigemptyset(&set);
  if (number)
    sigaddset(&set, number);
  return set;
}

static void block(int number) {
  sigset_t set = only(number);
  check(pthread_sigmask(SIG_BLOCK, &set, NULL) == 0, "pthread_sigmask");
}

static int is_blocked(int number) {
  sigset_t set;
  pthread_sigmask(SIG_BLOCK, NULL, &set);
  return sigismember(&set, number);
}

// A signal that is blocked until it is waited for, and one that has come before.
static void suspends(void) {
  sigset_t none = only(0);
  handle(SIGALRM, SA_RESTART);
  block(SIGALRM);
  long began = now();
  arm(ITIMER_REAL, 2 * UNIT, 0);
  check(sigsuspend(&none) == -1 && errno == EINTR, "sigsuspend");
  is_at(now() - began, 2 * UNIT, "sigsuspend");
  check(rang == 1 && is_blocked(SIGALRM), "behind sigsuspend");
  arm(ITIMER_REAL, UNIT, 0);
  rest(3 * UNIT);
  check(rang == 1, "a blocked signal does not come");
  check(sigsuspend(&none) == -1 && errno == EINTR && rang == 2, "a pending signal");
  is_at(now() - began, 5 * UNIT, "a pending signal");
}

static void waits_a_while(void) {
  sigset_t set = only(SIGALRM);
  siginfo_t info;
  struct timespec time = span(5 * UNIT);
  block(SIGALRM);
  handle(SIGRTMIN, SA_RESTART);
  long began = now();
  // Another signal's handler ends it, the signal, and its time.
  timer_t timer;
  struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN};
  check(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0, "timer_create");
  struct itimerspec setting = {.it_value = span(UNIT)};
  check(timer_settime(timer, 0, &setting, NULL) == 0, "timer_settime");
  arm(ITIMER_REAL, 3 * UNIT, 0);
  check(sigtimedwait(&set, &info, &time) == -1 && errno == EINTR && rang == 1, "a handler");
  is_at(now() - began, UNIT, "a handler");
  check(sigtimedwait(&set, &info, &time) == SIGALRM, "sigtimedwait");
  is_at(now() - began, 3 * UNIT, "sigtimedwait");
  check(info.si_signo == SIGALRM, "its signal");
  check(sigtimedwait(&set, &info, &time) == -1 && errno == EAGAIN, "a time that is over");
  is_at(now() - began, 8 * UNIT, "a time that is over");
  // With a value, and behind a handler.
  event.sigev_signo = SIGALRM;
  event.sigev_value.sival_int = 77;
  timer_t other;
  check(timer_create(CLOCK_REALTIME, &event, &other) == 0, "timer_create");
  setting.it_value = span(2 * UNIT);
  check(timer_settime(other, 0, &setting, NULL) == 0, "timer_settime");
  check(sigwaitinfo(&set, &info) == SIGALRM && info.si_value.sival_int == 77, "sigwaitinfo");
  is_at(now() - began, 10 * UNIT, "sigwaitinfo");
  check(timer_settime(other, 0, &setting, NULL) == 0, "timer_settime");
  setting.it_value = span(UNIT);
  check(timer_settime(timer, 0, &setting, NULL) == 0, "timer_settime");
  int number;
  check(sigwait(&set, &number) == 0 && number == SIGALRM && rang == 2, "sigwait");
  is_at(now() - began, 12 * UNIT, "sigwait");
}

static long began_at;
static pthread_t first;

static void *waits_for_signal(void *unused) {
  sigset_t set = only(SIGUSR1);
  int number;
  check(sigwait(&set, &number) == 0 && number == SIGUSR1, "sigwait in a thread");
  is_at(now() - began_at, 2 * UNIT, "sigwait in a thread");
  rest(UNIT);
  check(kill(getpid(), SIGUSR2) == 0, "kill");
  rest(2 * UNIT);
  check(pthread_kill(first, SIGUSR2) == 0, "pthread_kill");
  return unused;
}

// Threads send each other signals.
static void threads(void) {
  block(SIGUSR1);
  handle(SIGUSR2, 0);
  first = pthread_self();
  began_at = now();
  pthread_t other;
  check(pthread_create(&other, NULL, waits_for_signal, NULL) == 0, "pthread_create");
  rest(2 * UNIT);
  check(pthread_kill(other, SIGUSR1) == 0, "pthread_kill");
  check(pause() == -1 && errno == EINTR && rang == 1, "pause");
  is_at(now() - began_at, 3 * UNIT, "pause");
  sigset_t set;
  pthread_sigmask(SIG_BLOCK, NULL, &set);
  check(sigsuspend(&set) == -1 && errno == EINTR && rang == 2, "sigsuspend");
  is_at(now() - began_at, 5 * UNIT, "sigsuspend");
  pthread_join(other, NULL);
}

static int ends[2];

static void *writes(void *unused) {
  rest(2 * UNIT);
  check(write(ends[1], "a", 1) == 1, "write");
  return unused;
}

static fd_set of_pipe(void) {
  fd_set files;
  FD_ZERO(&files);
  FD_SET(ends[0], &files);
  return files;
}

// The masks of ppoll and pselect, their times, and data.
static void files(void) {
  sigset_t none = only(0);
  check(pipe(ends) == 0, "pipe");
  handle(SIGALRM, SA_RESTART);
  block(SIGALRM);
  struct pollfd file = {.fd = ends[0], .events = POLLIN};
  struct timespec time = span(5 * UNIT);
  long began = now();
  arm(ITIMER_REAL, 2 * UNIT, 0);
  check(ppoll(&file, 1, &time, &none) == -1 && errno == EINTR && rang == 1, "ppoll");
  is_at(now() - began, 2 * UNIT, "ppoll");
  arm(ITIMER_REAL, 2 * UNIT, 0);
  fd_set reads = of_pipe();
  check(pselect(ends[0] + 1, &reads, NULL, NULL, &time, &none) == -1 && rang == 2, "pselect");
  is_at(now() - began, 4 * UNIT, "pselect");
  check(is_blocked(SIGALRM), "behind pselect");
  // A signal that stays blocked does not end them.
  arm(ITIMER_REAL, 2 * UNIT, 0);
  check(ppoll(&file, 1, &time, NULL) == 0 && rang == 2, "the time of ppoll");
  is_at(now() - began, 9 * UNIT, "the time of ppoll");
  sigsuspend(&none);
  reads = of_pipe();
  check(pselect(ends[0] + 1, &reads, NULL, NULL, &time, NULL) == 0, "the time of pselect");
  check(!FD_ISSET(ends[0], &reads), "no file");
  is_at(now() - began, 14 * UNIT, "the time of pselect");
  pthread_t other;
  check(pthread_create(&other, NULL, writes, NULL) == 0, "pthread_create");
  struct timeval limit = short_span(5 * UNIT);
  long before = now();
  reads = of_pipe();
  check(select(ends[0] + 1, &reads, NULL, NULL, &limit) == 1, "select");
  check(FD_ISSET(ends[0], &reads), "the file");
  is_at(now() - began, 16 * UNIT, "select");
  long left = limit.tv_sec * SECOND + limit.tv_usec * 1000L;
  check(left < 7 * UNIT / 2 && left >= 5 * UNIT - (now() - before) - UNIT / 2, "what is left");
  check(ppoll(&file, 1, NULL, &none) == 1 && file.revents == POLLIN, "ppoll of data");
  limit = short_span(0);
  fd_set both = of_pipe(), writable;
  FD_ZERO(&writable);
  FD_SET(ends[1], &writable);
  int most = ends[1] > ends[0] ? ends[1] : ends[0];
  check(select(most + 1, &both, &writable, NULL, &limit) == 2, "both ends");
  pthread_join(other, NULL);
  close(ends[1]);
  check(select(most + 1, NULL, &writable, NULL, NULL) == -1 && errno == EBADF, "no file");
}

// A signal for a thread that blocks it does not end what the thread waits for.
static void blocked(void) {
  block(SIGUSR1);
  handle(SIGUSR1, 0);
  timer_t timer;
  struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGUSR1};
  event._sigev_un._tid = gettid();
  check(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0, "timer_create");
  struct itimerspec setting = {.it_value = span(UNIT)};
  check(timer_settime(timer, 0, &setting, NULL) == 0, "timer_settime");
  long began = now();
  struct timespec time = span(3 * UNIT);
  check(nanosleep(&time, NULL) == 0 && rang == 0, "a sleep");
  check(pipe(ends) == 0, "pipe");
  check(timer_settime(timer, 0, &setting, NULL) == 0, "timer_settime");
  pthread_t other;
  char byte;
  check(pthread_create(&other, NULL, writes, NULL) == 0, "pthread_create");
  check(read(ends[0], &byte, 1) == 1, "a read");
  is_at(now() - began, 5 * UNIT, "a read");
  pthread_join(other, NULL);
  sigset_t set = only(SIGUSR1);
  check(sigtimedwait(&set, NULL, &time) == SIGUSR1, "what is pending");
}

// Handlers of signals of another thread run when the waiting thread has the token: at the sender's
// time, and with stated points of their own.
static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t meeting;
static sem_t posted, done;
static int is_changed;
static pthread_t handled_by;

static void posts(int number, siginfo_t *info, void *context) {
  rings_and_tells(number, info, context);
  handled_by = pthread_self();
  sem_post(&done);
}

static void *ends_late(void *unused) {
  rest(15 * UNIT);
  return unused;
}

static void *waits_everywhere(void *unused) {
  char byte;
  check(sem_wait(&posted) == 0, "a semaphore");
  pthread_mutex_lock(&held);
  while (!is_changed)
    pthread_cond_wait(&changed, &held);
  pthread_mutex_unlock(&held);
  check(read(ends[0], &byte, 1) == 1, "a read");
  pthread_barrier_wait(&meeting);
  check(poll(NULL, 0, 100000) == -1 && errno == EINTR, "a poll");
  pthread_join(*(pthread_t *)unused, NULL);
  return unused;
}

// One more handler has run, in the other thread, and now.
static void interrupt(pthread_t other, const char *what) {
  int count = rang;
  long began = now();
  check(pthread_kill(other, SIGUSR1) == 0, what);
  check(sem_wait(&done) == 0 && rang == count + 1, what);
  check(pthread_equal(handled_by, other) && told.si_code == SI_TKILL, what);
  check(told.si_pid == getpid() && told.si_uid == getuid(), "who has sent it");
  is_soon(rang_at - began, what);
}

static void handlers(void) {
  struct sigaction action = {.sa_sigaction = posts, .sa_flags = SA_RESTART | SA_SIGINFO};
  check(sigaction(SIGUSR1, &action, NULL) == 0, "sigaction");
  check(sigaction(SIGRTMIN + 1, &action, NULL) == 0, "sigaction");
  sem_init(&posted, 0, 0);
  sem_init(&done, 0, 0);
  pthread_barrier_init(&meeting, NULL, 2);
  check(pipe(ends) == 0, "pipe");
  pthread_t other, last;
  check(pthread_create(&last, NULL, ends_late, NULL) == 0, "pthread_create");
  check(pthread_create(&other, NULL, waits_everywhere, &last) == 0, "pthread_create");
  interrupt(other, "a thread that begins");
  rest(UNIT);
  interrupt(other, "a thread that waits for a semaphore");
  sem_post(&posted);
  rest(UNIT);
  interrupt(other, "a thread that waits for a condition");
  pthread_mutex_lock(&held);
  is_changed = 1;
  pthread_cond_signal(&changed);
  pthread_mutex_unlock(&held);
  rest(UNIT);
  interrupt(other, "a thread that reads");
  check(write(ends[1], "a", 1) == 1, "write");
  rest(UNIT);
  interrupt(other, "a thread at a barrier");
  pthread_barrier_wait(&meeting);
  rest(UNIT);
  interrupt(other, "a thread that polls");
  rest(UNIT);
  interrupt(other, "a thread that joins");
  // Two of one kind are two, with their values.
  for (int i = 1; i <= 2; i++)
    check(pthread_sigqueue(other, SIGRTMIN + 1, (union sigval){.sival_int = i}) == 0, "a value");
  for (int i = 1; i <= 2; i++)
    sem_wait(&done);
  check(told.si_value.sival_int == 2 && told.si_code == SI_QUEUE, "a value");
  // The first thread that does not block it.
  block(SIGUSR1);
  check(kill(getpid(), SIGUSR1) == 0, "kill");
  sem_wait(&done);
  check(!pthread_equal(handled_by, pthread_self()) && told.si_code == SI_USER, "kill");
  pthread_join(other, NULL);
  check(pthread_kill(pthread_self(), 0) == 0 && pthread_kill(pthread_self(), 99) == EINVAL,
        "no signal");
}

static const struct form forms[] = {
    {"suspends", suspends}, {"waits", waits_a_while}, {"threads", threads},
    {"files", files},       {"blocked", blocked},     {"handlers", handlers},
};

int main(int argc, char **argv) {
  return run_form(forms, sizeof forms / sizeof *forms, argc > 1 ? argv[1] : "");
}
