// NxP code waits for signals: sigsuspend, sigwait, pause interrupted, nanosleep with EINTR.
// OUT: 1 1 1 2
#include <errno.h>
#include <flick.h>
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t alarms;
static void on_alarm(int signal) { alarms += signal == SIGALRM; }
static void start(void) {
  struct itimerval t = {{0, 0}, {0, 20000}};
  setitimer(ITIMER_REAL, &t, NULL);
}

FLICK_NXP static int suspend(void) {
  sigset_t blocked, old;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGALRM);
  sigprocmask(SIG_BLOCK, &blocked, &old);
  start();
  int r = sigsuspend(&old), e = errno;
  sigprocmask(SIG_SETMASK, &old, NULL);
  return r == -1 && e == EINTR;
}
FLICK_NXP static int wait_for(void) {
  sigset_t set, old;
  int got = 0;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  sigprocmask(SIG_BLOCK, &set, &old);
  raise(SIGUSR1);
  int r = sigwait(&set, &got);
  sigprocmask(SIG_SETMASK, &old, NULL);
  return r == 0 && got == SIGUSR1;
}
FLICK_NXP static int interrupted(void) {
  struct timespec long_time = {100, 0}, left;
  start();
  int r = nanosleep(&long_time, &left);
  return r == -1 && errno == EINTR && left.tv_sec >= 90;
}

int main(void) {
  struct sigaction a = {.sa_handler = on_alarm};
  sigaction(SIGALRM, &a, NULL);
  int s = suspend(), w = wait_for(), i = interrupted();
  printf("%d %d %d %d\n", s, w, i, alarms);
}
