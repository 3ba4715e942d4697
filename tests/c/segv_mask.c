// Inside a SIGSEGV handler called for NxP code: SIGSEGV and sa_mask are blocked (not with
// SA_NODEFER), after it the old mask is back; SA_RESETHAND resets.
// OUT: 1 0 0
// OUT: 3 0 0
// OUT: 0 0 0
// OUT: 6 0 4
// OUT: 5 1 4
// SKIP-VALGRIND: memcheck reports the bad accesses that are the subject
#include <flick.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>

static char *page;
static volatile sig_atomic_t mask, reset;

static int current(void) {
  sigset_t now;
  sigprocmask(SIG_BLOCK, NULL, &now);
  return sigismember(&now, SIGSEGV) + 2 * sigismember(&now, SIGUSR1) +
         4 * sigismember(&now, SIGUSR2);
}
static void handler(int signal) {
  struct sigaction now;
  mask = current();
  sigaction(signal, NULL, &now);
  reset = now.sa_handler == SIG_DFL;
  mprotect(page, 4096, PROT_READ | PROT_WRITE);
}
FLICK_NXP static void touch(char *p) { *(volatile char *)p = 1; }

static void round_with(int flags, int signal_in_mask) {
  struct sigaction a = {.sa_handler = handler, .sa_flags = flags};
  if (signal_in_mask)
    sigaddset(&a.sa_mask, signal_in_mask);
  sigaction(SIGSEGV, &a, NULL);
  mprotect(page, 4096, PROT_NONE);
  touch(page + 5);
  printf("%d %d %d\n", mask, reset, current());
}

int main(void) {
  sigset_t usr2;
  sigemptyset(&usr2);
  sigaddset(&usr2, SIGUSR2);
  page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  round_with(0, 0);
  round_with(0, SIGUSR1);
  round_with(SA_NODEFER, 0);
  sigprocmask(SIG_BLOCK, &usr2, NULL);
  round_with(SA_NODEFER, SIGUSR1);
  round_with((int)SA_RESETHAND, 0);
}
