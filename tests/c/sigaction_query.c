// sigaction and signal report what the program itself installed for SIGSEGV and SIGILL, never what
// a runtime keeps beneath; child processes inherit it.
// OUT: 1 1 1 1 1 1 1 1
// OUT: 1 1 1 1 1 1 1 1
// OUT: 1 1 1 1 1 1 1 1
// OUT: 1
#include <flick.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static void handler(int signal) { _exit(signal); }
static void with_info(int signal, siginfo_t *info, void *context) {
  (void)info, (void)context;
  _exit(signal);
}

FLICK_NXP static int is_default(int signal) {
  struct sigaction old = {.sa_handler = SIG_ERR};
  return sigaction(signal, NULL, &old) == 0 && old.sa_handler == SIG_DFL;
}
FLICK_NXP static int install(int signal) {
  struct sigaction a = {.sa_sigaction = with_info, .sa_flags = SA_SIGINFO | SA_NODEFER}, old;
  sigaddset(&a.sa_mask, SIGUSR1);
  return sigaction(signal, &a, &old) == 0 && old.sa_handler == handler;
}

int main(void) {
  static const int signals[] = {SIGSEGV, SIGILL, SIGBUS};
  for (int i = 0; i < 3; i++) {
    int s = signals[i];
    printf("%d", is_default(s));
    printf(" %d", signal(s, handler) == SIG_DFL);
    printf(" %d", install(s));
    struct sigaction old;
    sigaction(s, NULL, &old);
    printf(" %d %d %d", old.sa_sigaction == with_info,
           (old.sa_flags & (SA_SIGINFO | SA_NODEFER | (int)SA_RESETHAND)) ==
               (SA_SIGINFO | SA_NODEFER),
           sigismember(&old.sa_mask, SIGUSR1) && !sigismember(&old.sa_mask, SIGUSR2));
    printf(" %d", signal(s, SIG_IGN) != handler);
    printf(" %d\n", signal(s, SIG_DFL) == SIG_IGN);
  }
  fflush(stdout);
  if (fork() == 0) {
    signal(SIGSEGV, handler);
    raise(SIGSEGV);
    _exit(99);
  }
  int status;
  wait(&status);
  printf("%d\n", WIFEXITED(status) && WEXITSTATUS(status) == SIGSEGV);
}
