// Wild pointers in NxP code: an address that is not canonical, one in the middle of nowhere, calls
// through both. Expects the native signal, code and address.
// OUT: 1 1 0
// OUT: 1 1 0xdead000
// OUT: 1 1 0xdead0
// SKIP-VALGRIND: memcheck reports the bad accesses that are the subject
#include <flick.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>

static sigjmp_buf env;
static volatile uintptr_t address;
static volatile sig_atomic_t code;

static void handler(int signal, siginfo_t *info, void *context) {
  (void)context;
  code = info->si_code;
  address = (uintptr_t)info->si_addr;
  siglongjmp(env, signal);
}
FLICK_NXP static long load(uintptr_t p) { return *(volatile long *)p; }
FLICK_NXP static void store(uintptr_t p) { *(volatile char *)p = 1; }
FLICK_NXP static int call(int (*f)(int)) { return f(1) + 1; }

int main(void) {
  struct sigaction a = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO};
  sigaction(SIGSEGV, &a, NULL);
  volatile int got;
  if ((got = sigsetjmp(env, 1)) == 0)
    load(0x123456789abcdef0UL);
  else
    printf("%d %d %#lx\n", got == SIGSEGV, code == 128, (unsigned long)address);
  if ((got = sigsetjmp(env, 1)) == 0)
    store(0xdead000UL);
  else
    printf("%d %d %#lx\n", got == SIGSEGV, code == SEGV_MAPERR, (unsigned long)address);
  if ((got = sigsetjmp(env, 1)) == 0)
    call((int (*)(int))0xdead0UL);
  else
    printf("%d %d %#lx\n", got == SIGSEGV, code == SEGV_MAPERR, (unsigned long)address);
}
