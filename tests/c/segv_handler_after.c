// NxP code installs a SIGSEGV handler after crossings have happened, replaces it by an NxP handler,
// and takes it away again. Expects each fault to reach the handler of its time.
// OUT: 5
// OUT: 0 1 1 1
// OUT: 1 2 2 2
// OUT: 2 3 3 3
// SKIP-VALGRIND: memcheck reports the bad accesses that are the subject
#include <flick.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>

static sigjmp_buf env;

static void first(int signal) { siglongjmp(env, signal == SIGSEGV ? 1 : 9); }
static void second(int signal, siginfo_t *info, void *context) {
  (void)context;
  siglongjmp(env, signal == SIGSEGV && info->si_addr == (void *)16 ? 2 : 9);
}
FLICK_NXP static void third(int signal) { siglongjmp(env, signal == SIGSEGV ? 3 : 9); }

FLICK_NXP static int install(int which) {
  struct sigaction a = {.sa_flags = 0}, old;
  if (which == 2) {
    a.sa_sigaction = second;
    a.sa_flags = SA_SIGINFO;
  } else {
    a.sa_handler = which == 1 ? first : third;
  }
  sigaction(SIGSEGV, &a, &old);
  return old.sa_handler == SIG_DFL    ? 0
         : old.sa_handler == first    ? 1
         : old.sa_sigaction == second ? 2
         : old.sa_handler == third    ? 3
                                      : 9;
}
FLICK_NXP static void bad_write(long *p) { ((volatile long *)p)[2] = 5; }
FLICK_HOST static void host_write(long *p) { ((volatile long *)p)[2] = 5; }
FLICK_NXP static void through_host(long *p) { host_write(p); }

static int attempt(void (*f)(long *)) {
  int r = sigsetjmp(env, 1);
  if (r == 0)
    f(NULL);
  return r;
}

int main(void) {
  long ok[3];
  bad_write(ok);
  printf("%ld\n", ok[2]);
  for (int which = 1; which <= 3; which++) {
    int before = install(which);
    printf("%d %d %d %d\n", before, attempt(bad_write), attempt(host_write), attempt(through_host));
  }
}
