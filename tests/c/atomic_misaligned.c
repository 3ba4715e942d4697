// An atomic access across its natural alignment, which the host allows and the NxP does not: SIGBUS
// with its address; without a handler, and where the signal is ignored or blocked, a report that
// names the function.
// SKIP-VALGRIND: the report prints registers that nothing has set
// ONLY: flick
// OUT: caught, address right
// OUT: default: signal 7
// OUT: ignored: signal 7
// OUT: blocked: signal 7
// ERR: adds_by_default+0x
// ERR: adds_ignored+0x
// ERR: adds_blocked+0x
#include <flick.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static char bytes[64];
static long *volatile place = (long *)(bytes + 12);
static sigjmp_buf env;
static volatile int right;

static void handler(int signal, siginfo_t *info, void *context) {
  (void)context;
  right = signal == SIGBUS && info->si_code == BUS_ADRALN && info->si_addr == (void *)place;
  siglongjmp(env, 1);
}

FLICK_NXP static int adds(long *p) { return (int)__atomic_fetch_add(p, 1, __ATOMIC_RELAXED); }
FLICK_NXP static int adds_by_default(long *p) {
  return (int)__atomic_fetch_add(p, 2, __ATOMIC_RELAXED);
}
FLICK_NXP static int adds_ignored(long *p) {
  return (int)__atomic_fetch_add(p, 3, __ATOMIC_RELAXED);
}
FLICK_NXP static int adds_blocked(long *p) {
  return (int)__atomic_fetch_add(p, 4, __ATOMIC_RELAXED);
}

static void child(const char *name, int (*f)(long *), void (*disposition)(int), int how) {
  fflush(stdout);
  pid_t pid = fork();
  if (pid == 0) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGBUS);
    sigprocmask(how, &set, NULL);
    if (disposition != SIG_ERR)
      signal(SIGBUS, disposition);
    _exit(f(place) & 1);
  }
  int status;
  waitpid(pid, &status, 0);
  printf("%s: signal %d\n", name, WIFSIGNALED(status) ? WTERMSIG(status) : -1);
}

int main(void) {
  struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO};
  sigaction(SIGBUS, &action, NULL);
  if (sigsetjmp(env, 1) == 0)
    adds(place);
  printf("caught, address %s\n", right ? "right" : "wrong");
  child("default", adds_by_default, SIG_DFL, SIG_UNBLOCK);
  child("ignored", adds_ignored, SIG_IGN, SIG_UNBLOCK);
  child("blocked", adds_blocked, SIG_ERR, SIG_BLOCK);
}
