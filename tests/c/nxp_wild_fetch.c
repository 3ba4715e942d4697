// NxP code jumps to what is no NxP code: host code is called (inverted NX); data, the stack, the
// middle of nowhere and an odd address between functions are the native SIGSEGV, with its code and
// address. The program goes on each time, and calls NxP code again.
// OUT: host: 42
// OUT: data: 1 1 1, then 42
// OUT: constant: 1 1 1, then 42
// OUT: stack: 1 1 1, then 42
// OUT: heap: 1 1 1, then 42
// OUT: nowhere: 1 1 1, then 42
// OUT: kernel: 1 1, then 42
// OUT: odd: 1 1 1, then 42
// SKIP-VALGRIND: memcheck reports the jumps that are the subject
#include <flick.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

typedef int function(int);

static sigjmp_buf env;
static volatile int number, code;
static void *volatile address;

static void handler(int signal, siginfo_t *info, void *context) {
  (void)context;
  number = signal;
  code = info->si_code;
  address = info->si_addr;
  siglongjmp(env, 1);
}

static int data[4] = {1, 2, 3, 4};
static const int constant[4] = {1, 2, 3, 4};

FLICK_NXP __attribute__((noinline)) static int jump(function *volatile to, int x) {
  return to(x) + 1;
}
FLICK_NXP __attribute__((noinline)) static int twice(int x) { return 2 * x; }
static int host_twice(int x) { return 2 * x; }

static void try_it(const char *name, const void *to, int wanted) {
  number = code = 0;
  address = &env;
  if (sigsetjmp(env, 1) == 0)
    jump((function *)(uintptr_t)to, 20);
  printf("%s: %d %d", name, number == SIGSEGV, code == wanted);
  // The kernel gives no address with SI_KERNEL.
  if (wanted != SI_KERNEL)
    printf(" %d", address == to);
  printf(", then %d\n", jump(twice, 20) + 1);
}

int main(void) {
  struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO};
  int local[4] = {1, 2, 3, 4};
  int *heap = malloc(sizeof local);
  sigaction(SIGSEGV, &action, NULL);
  printf("host: %d\n", jump(host_twice, 20) + 1);
  try_it("data", data, SEGV_ACCERR);
  try_it("constant", constant, SEGV_ACCERR);
  try_it("stack", local, SEGV_ACCERR);
  try_it("heap", heap, SEGV_ACCERR);
  try_it("nowhere", (void *)0x10000, SEGV_MAPERR);
  try_it("kernel", (void *)0x8000000000000000, SI_KERNEL);
  try_it("odd", (char *)data + 1, SEGV_ACCERR);
  free(heap);
  return 0;
}
