// A host handler runs for signals that NxP code raises, at several depths; the handler sees the
// right number and the interrupted NxP code goes on.
// OUT: 25 5 4 1
#include <flick.h>
#include <signal.h>
#include <stdio.h>

static volatile sig_atomic_t usr1, usr2, value;

static void on_usr1(int signal) {
  usr1++;
  value = signal == SIGUSR1;
}
static void on_usr2(int signal, siginfo_t *info, void *context) {
  usr2 += signal == SIGUSR2 && info->si_signo == SIGUSR2 && context != NULL;
}

FLICK_NXP static int work(int n) {
  int sum = 0;
  for (int i = 0; i < n; i++) {
    int before = usr1;
    raise(i % 2 ? SIGUSR2 : SIGUSR1);
    sum += (usr1 - before) * (i + 1);
  }
  return sum;
}

int main(void) {
  struct sigaction a = {.sa_sigaction = on_usr2, .sa_flags = SA_SIGINFO};
  signal(SIGUSR1, on_usr1);
  sigaction(SIGUSR2, &a, NULL);
  printf("%d ", work(9));
  printf("%d %d %d\n", usr1, usr2, value);
}
