// NxP functions as signal handlers, plain and SA_SIGINFO, while host code and while NxP code runs;
// signal() and sigaction() report them back by their one address.
// OUT: 1 1000 1
// OUT: 6 1015 6
// OUT: 1 1
// SKIP-VALGRIND: valgrind 3.19 loses the value that sigqueue sends
#define _GNU_SOURCE
#include <flick.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static volatile sig_atomic_t plain, queued, from_self;

FLICK_NXP static void on_plain(int signal) { plain += signal == SIGUSR1 ? 1 : 100; }
FLICK_NXP static void on_info(int signal, siginfo_t *info, void *context) {
  queued += info->si_value.sival_int + (context == NULL) + (signal != SIGUSR2);
  from_self += info->si_pid == getpid();
}

FLICK_NXP static void provoke(int n) {
  for (int i = 1; i <= n; i++) {
    raise(SIGUSR1);
    sigqueue(getpid(), SIGUSR2, (union sigval){.sival_int = i});
  }
}

int main(void) {
  struct sigaction a = {.sa_sigaction = on_info, .sa_flags = SA_SIGINFO}, old;
  signal(SIGUSR1, on_plain);
  sigaction(SIGUSR2, &a, NULL);
  raise(SIGUSR1);
  sigqueue(getpid(), SIGUSR2, (union sigval){.sival_int = 1000});
  printf("%d %d %d\n", plain, queued, from_self);
  provoke(5);
  printf("%d %d %d\n", plain, queued, from_self);
  sigaction(SIGUSR2, NULL, &old);
  printf("%d %d\n", old.sa_sigaction == on_info, signal(SIGUSR1, SIG_DFL) == on_plain);
}
