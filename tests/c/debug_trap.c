// __builtin_debugtrap in NxP code is SIGTRAP. A handler returns to what follows; without one, and
// where the signal is ignored or blocked, it ends the process, with a report naming the function.
// SKIP-VALGRIND: the report prints registers that nothing has set
// OUT: 5 after 1 trap
// OUT: default: signal 5
// OUT: ignored: signal 5
// OUT: blocked: signal 5
// ERR: stops_by_default+0x
// ERR: stops_ignored+0x
// ERR: stops_blocked+0x
#include <flick.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef __clang__
#define TRAP() __builtin_debugtrap()
#else
#define TRAP() __asm__ volatile("int3")
#endif

static volatile sig_atomic_t traps;
static void handler(int signal) { traps += signal == SIGTRAP; }

FLICK_NXP static int goes_on(int x) {
  TRAP();
  return x + 1;
}
FLICK_NXP static int stops_by_default(int x) {
  TRAP();
  return x + 1;
}
FLICK_NXP static int stops_ignored(int x) {
  TRAP();
  return x + 2;
}
FLICK_NXP static int stops_blocked(int x) {
  TRAP();
  return x + 3;
}

static void child(const char *name, int (*f)(int), void (*disposition)(int), int how) {
  fflush(stdout);
  pid_t pid = fork();
  if (pid == 0) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTRAP);
    sigprocmask(how, &set, NULL);
    signal(SIGTRAP, disposition);
    _exit(f(0));
  }
  int status;
  waitpid(pid, &status, 0);
  printf("%s: signal %d\n", name, WIFSIGNALED(status) ? WTERMSIG(status) : -1);
}

int main(void) {
  signal(SIGTRAP, handler);
  int result = goes_on(4);
  printf("%d after %d trap\n", result, (int)traps);
  child("default", stops_by_default, SIG_DFL, SIG_UNBLOCK);
  child("ignored", stops_ignored, SIG_IGN, SIG_UNBLOCK);
  child("blocked", stops_blocked, handler, SIG_BLOCK);
}
