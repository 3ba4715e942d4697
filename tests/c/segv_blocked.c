// SIGSEGV blocked by NxP code: a fault that happens then kills the process though a handler is
// installed; crossings do not fault natively and must work.
// OUT: 42
// EXIT: signal SEGV
// SKIP-VALGRIND: memcheck reports the bad access that is the subject
#include <flick.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static void handler(int signal) { _exit(signal); }
static int *volatile bad = (int *)8;

FLICK_NXP static int block(void) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGSEGV);
  return sigprocmask(SIG_BLOCK, &set, NULL);
}
FLICK_NXP static int add(int a, int b) { return a + b; }
FLICK_NXP static void fault(volatile int *p) { *p = 1; }

int main(void) {
  signal(SIGSEGV, handler);
  printf("%d\n", block() + add(40, 2));
  fflush(stdout);
  fault(bad);
}
