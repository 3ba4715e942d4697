// Three hundred times, each deeper in host recursion, an NxP function with a large frame is left by
// longjmp. What was left takes no NxP stack.
// OUT: 300
#include "flick.h"
#include <setjmp.h>
#include <stdio.h>

static jmp_buf *current;

FLICK_HOST __attribute__((noinline)) static void out(volatile char *bytes) {
  bytes[0] = 1;
  longjmp(*current, 1);
}
FLICK_NXP __attribute__((noinline)) static void big(void) {
  volatile char bytes[100000];
  bytes[5] = 2;
  out(bytes);
}
static __attribute__((noinline)) int deeper(volatile int n) {
  jmp_buf here;
  char apart[1500];
  if (n == 0)
    return 0;
  current = &here;
  if (!setjmp(here))
    big();
  __asm__ volatile("" ::"r"(apart) : "memory");
  return 1 + deeper(n - 1);
}

int main(void) {
  printf("%d\n", deeper(300));
  return 0;
}
