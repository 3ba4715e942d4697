// Where SIGSEGV is ignored, raise from NxP code does nothing, a real fault in NxP code kills all
// the same.
// OUT: raised
// EXIT: signal SEGV
// SKIP-VALGRIND: memcheck reports the bad access that is the subject
#include <flick.h>
#include <signal.h>
#include <stdio.h>

static int *volatile bad = (int *)8;

FLICK_NXP static int raise_it(void) { return raise(SIGSEGV); }
FLICK_NXP static void fault(volatile int *p) { *p = 1; }

int main(void) {
  signal(SIGSEGV, SIG_IGN);
  if (raise_it() == 0)
    printf("raised\n");
  fflush(stdout);
  fault(bad);
}
