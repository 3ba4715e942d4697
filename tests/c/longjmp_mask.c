// siglongjmp over NxP frames out of a signal handler, with and without the saved mask. Expects the
// mask that POSIX names.
// OUT: 1
// OUT: 0
#include <flick.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>

static sigjmp_buf env;

static void handler(int signal) { siglongjmp(env, signal); }
FLICK_NXP static int provoke(int depth) {
  volatile int keep = depth;
  if (keep == 0)
    return raise(SIGUSR1);
  return provoke(depth - 1) + keep;
}
static int blocked(void) {
  sigset_t now;
  sigprocmask(SIG_BLOCK, NULL, &now);
  return sigismember(&now, SIGUSR1);
}

int main(void) {
  signal(SIGUSR1, handler);
  for (volatile int i = 0; i < 20; i++) {
    if (sigsetjmp(env, 1) == 0) {
      provoke(i);
      return 1;
    }
    if (blocked())
      return 2;
  }
  if (sigsetjmp(env, 0) == 0)
    provoke(3);
  printf("%d\n", blocked());
  sigset_t all;
  sigemptyset(&all);
  sigprocmask(SIG_SETMASK, &all, NULL);
  printf("%d\n", blocked());
}
