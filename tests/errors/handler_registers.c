// A SIGSEGV handler that steps over the faulting instruction by changing the context's registers,
// as some do on the host: under NxP code they are the engine's.
// FAILS: run FLK0507
// EXIT: 125
// SAYS: a signal handler has changed rip
// SAYS: in a call of 'touch'
// SAYS: siglongjmp
#define _GNU_SOURCE
#include <flick.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <ucontext.h>

static void skip(int signal, siginfo_t *info, void *context) {
  (void)signal;
  (void)info;
  ((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP] += 3;
}
__attribute__((noinline)) FLICK_NXP static int touch(const int *p) { return *p; }

int main(void) {
  struct sigaction a = {.sa_sigaction = skip, .sa_flags = SA_SIGINFO};
  int *page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  sigaction(SIGSEGV, &a, NULL);
  printf("%d\n", touch(page));
}
