// __builtin_trap in NxP code is SIGILL. A handler catches it, then the default action ends the
// program.
// OUT: caught
// EXIT: signal ILL
#include <flick.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>

static sigjmp_buf env;
static void handler(int signal) { siglongjmp(env, signal == SIGILL ? 1 : 2); }
FLICK_NXP static int check(int x) {
  if (x > 10)
    __builtin_trap();
  return x + 1;
}

int main(void) {
  signal(SIGILL, handler);
  int got = sigsetjmp(env, 1);
  if (got == 0)
    check(check(10));
  printf("%s\n", got == 1 ? "caught" : "wrong");
  fflush(stdout);
  signal(SIGILL, SIG_DFL);
  return check(100);
}
