// NxP code calls through a NULL function pointer: a handler sees address 0 and the program goes on
// by siglongjmp; without the handler SIGSEGV ends it.
// OUT: 1 1
// OUT: 41
// EXIT: signal SEGV
// SKIP-VALGRIND: memcheck reports the jump that is the subject
#include <flick.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>

static sigjmp_buf env;
static void *volatile address = &env;

static void handler(int signal, siginfo_t *info, void *context) {
  (void)context;
  address = info->si_addr;
  siglongjmp(env, signal == SIGSEGV);
}
FLICK_NXP static int call(int (*volatile f)(int), int x) { return f(x) + 1; }
static int fine(int x) { return x * 2; }

int main(void) {
  struct sigaction a = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO};
  sigaction(SIGSEGV, &a, NULL);
  int got = sigsetjmp(env, 1);
  if (got == 0)
    call(NULL, 1);
  printf("%d %d\n", got, address == NULL);
  printf("%d\n", call(fine, 20));
  fflush(stdout);
  signal(SIGSEGV, SIG_DFL);
  return call(NULL, 2);
}
