// Handlers that run with every signal blocked (sigfillset in sa_mask, sigsuspend) call NxP
// functions.
// OUT: 21 42
#include "flick.h"
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>

static volatile int sum;

FLICK_NXP __attribute__((noinline)) static int triple(int x) { return x * 3; }
static void handler(int signal) {
  (void)signal;
  sum += triple(7);
}

int main(void) {
  struct sigaction action = {.sa_handler = handler};
  sigfillset(&action.sa_mask);
  sigaction(SIGUSR1, &action, NULL);
  raise(SIGUSR1);
  int first = sum;
  sigemptyset(&action.sa_mask);
  sigaction(SIGALRM, &action, NULL);
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGALRM);
  sigprocmask(SIG_BLOCK, &set, NULL);
  struct itimerval once = {{0, 0}, {0, 3000}};
  setitimer(ITIMER_REAL, &once, NULL);
  sigfillset(&set);
  sigdelset(&set, SIGALRM);
  sigsuspend(&set);
  printf("%d %d\n", first, sum);
  return 0;
}
