// backtrace(3) in the handler of a fault in a leaf of the NxP that the host has called: it goes
// through the leaf to the host's callers.
// OUT: through the leaf: 1
// OUT: repaired: 0
// SKIP-VALGRIND: memcheck reports the bad access that is the subject
// SKIP-MODE: interp,translate,fault,static the frames are those of a crossing
// SKIP-RANDOM: the calls are another's
// SKIP-ASAN: the sanitizer's handlers have frames of their own
#define _GNU_SOURCE
#include <execinfo.h>
#include <flick.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>

#ifdef __clang__
#define SEPARATE __attribute__((noinline))
#else
// gcc would move the load to the caller.
#define SEPARATE __attribute__((noipa))
#endif

FLICK_NXP SEPARATE static long load(const long *p) { return *p + 1; }

static long *page;
static void *volatile in_outer, *volatile in_main;
static volatile sig_atomic_t callers;

static void on_fault(int signal, siginfo_t *info, void *context) {
  (void)signal, (void)info, (void)context;
  void *frames[64];
  int count = backtrace(frames, 64);
  for (int i = 0; i < count; i++)
    callers += frames[i] == in_outer || frames[i] == in_main;
  mprotect(page, 4096, PROT_READ);
}

FLICK_HOST SEPARATE static long inner(const long *p) {
  in_outer = __builtin_return_address(0);
  return load(p) - 1;
}
FLICK_HOST SEPARATE static long outer(const long *p) {
  in_main = __builtin_return_address(0);
  return inner(p) * 2;
}

int main(void) {
  void *warm[4];
  backtrace(warm, 4);
  struct sigaction a = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
  sigaction(SIGSEGV, &a, NULL);
  page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  long got = outer(page);
  printf("through the leaf: %d\n", callers == 2);
  printf("repaired: %ld\n", got);
}
