// A SIGSEGV handler installed before the first crossing catches a write through NULL and other bad
// accesses in NxP code, sees signal and address, and leaves by siglongjmp.
// OUT: 1 1 0
// OUT: 1 2 40
// OUT: 1 1 4099
// OUT: 1 1 4112
// OUT: 42 0
// SKIP-VALGRIND: memcheck reports the bad accesses that are the subject
#define _GNU_SOURCE
#include <flick.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>

static sigjmp_buf env;
static volatile uintptr_t address;
static volatile sig_atomic_t number, code;

static void handler(int signal, siginfo_t *info, void *context) {
  (void)context;
  number = signal == SIGSEGV && info->si_signo == SIGSEGV;
  code = info->si_code == SEGV_MAPERR ? 1 : info->si_code == SEGV_ACCERR ? 2 : 3;
  address = (uintptr_t)info->si_addr;
  siglongjmp(env, 1);
}

FLICK_NXP static void write_int(int *p, int v) { *(volatile int *)p = v; }
FLICK_NXP static int read_byte(const volatile char *p) { return *p; }
FLICK_NXP static double read_double(const volatile double *p) { return p[2]; }
FLICK_NXP static int add(int a, int b) { return a + b; }

int main(void) {
  struct sigaction a = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO};
  sigaction(SIGSEGV, &a, NULL);
  char *page = mmap(NULL, 8192, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  munmap(page + 4096, 4096);
  if (sigsetjmp(env, 1) == 0)
    write_int(NULL, 1);
  else
    printf("%d %d %#lx\n", number, code, (unsigned long)address);
  if (sigsetjmp(env, 1) == 0)
    write_int((int *)(page + 40), 1);
  else
    printf("%d %d %ld\n", number, code, (long)(address - (uintptr_t)page));
  if (sigsetjmp(env, 1) == 0)
    read_byte(page + 4099);
  else
    printf("%d %d %ld\n", number, code, (long)(address - (uintptr_t)page));
  if (sigsetjmp(env, 1) == 0)
    read_double((double *)(page + 4096));
  else
    printf("%d %d %ld\n", number, code, (long)(address - (uintptr_t)page));
  printf("%d %d\n", add(40, 2), read_byte(page));
}
