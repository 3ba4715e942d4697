// The first crossing is in a handler on an alternate stack of 8 KiB (SIGSTKSZ), and nests once.
// With AVX-512 the kernel puts 3 KiB of registers there.
// SKIP-ASAN: the sanitized runtime needs larger frames
// OUT: 15 0
#include "flick.h"
#include <signal.h>
#include <stdio.h>
#include <string.h>

static struct {
  char guard[16384];
  char stack[8192];
} memory;
static volatile int result;

FLICK_NXP __attribute__((noinline)) static int fill(int x) {
  volatile char bytes[2000];
  bytes[x] = (char)x;
  return bytes[x] + 1;
}
FLICK_HOST __attribute__((noinline)) static int middle(int x) { return fill(x) + 1; }
FLICK_NXP __attribute__((noinline)) static int outer(int x) { return middle(x) + middle(x + 1); }
static void handler(int signal) {
  (void)signal;
  result = outer(5);
}

int main(void) {
  stack_t stack = {.ss_sp = memory.stack, .ss_size = sizeof memory.stack};
  sigaltstack(&stack, NULL);
  struct sigaction action = {.sa_handler = handler, .sa_flags = SA_ONSTACK};
  sigaction(SIGUSR1, &action, NULL);
  raise(SIGUSR1);
  int written = 0;
  for (size_t i = 0; i < sizeof memory.guard; ++i)
    written |= memory.guard[i];
  printf("%d %d\n", result, written);
  return 0;
}
