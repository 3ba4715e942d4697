// sigprocmask by NxP code: a blocked signal stays pending across crossings and is delivered when
// NxP code unblocks it; sa_mask, SA_NODEFER and SA_RESETHAND hold.
// OUT: 1 b2u(2)()2<<<>>><> 1
#include <flick.h>
#include <signal.h>
#include <stdio.h>

static char trace[64];
static volatile sig_atomic_t length;

static void mark(char c) {
  trace[length] = c;
  length = length + 1;
}
static void on_usr2(int signal) {
  (void)signal;
  mark('2');
}
static void on_usr1(int signal) {
  (void)signal;
  mark('(');
  raise(SIGUSR2);
  mark(')');
}
static volatile sig_atomic_t nested;
static void on_nodefer(int signal) {
  mark('<');
  if (nested++ < 2)
    raise(signal);
  mark('>');
}

FLICK_NXP static int block_and_raise(void) {
  sigset_t set, pending;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR2);
  sigprocmask(SIG_BLOCK, &set, NULL);
  raise(SIGUSR2);
  sigpending(&pending);
  return sigismember(&pending, SIGUSR2);
}
FLICK_NXP static void unblock(void) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR2);
  sigprocmask(SIG_UNBLOCK, &set, NULL);
}
FLICK_NXP static void raise_nxp(int signal) { raise(signal); }

int main(void) {
  struct sigaction a = {.sa_handler = on_usr2}, b = {.sa_handler = on_usr1}, old;
  sigaction(SIGUSR2, &a, NULL);
  int pending = block_and_raise();
  mark('b');
  unblock();
  mark('u');
  sigaction(SIGUSR1, &b, NULL);
  raise_nxp(SIGUSR1);
  sigaddset(&b.sa_mask, SIGUSR2);
  sigaction(SIGUSR1, &b, NULL);
  raise_nxp(SIGUSR1);
  struct sigaction c = {.sa_handler = on_nodefer, .sa_flags = SA_NODEFER};
  sigaction(SIGUSR1, &c, NULL);
  raise_nxp(SIGUSR1);
  nested = 5;
  c.sa_flags = (int)SA_RESETHAND;
  sigaction(SIGUSR1, &c, NULL);
  raise_nxp(SIGUSR1);
  sigaction(SIGUSR1, NULL, &old);
  printf("%d %s %d\n", pending, trace, old.sa_handler == SIG_DFL);
}
