// A handler on an alternate stack catches the overflow of an NxP recursion and leaves by
// siglongjmp, three times; normal crossings work afterwards.
// OUT: 1 1
// OUT: 1 1
// OUT: 1 1
// OUT: 1000
// SKIP-VALGRIND: memcheck reports the overflow that is the subject
#define _GNU_SOURCE
#include <flick.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

static sigjmp_buf env;
static volatile long limit = 1L << 40, deepest;

FLICK_NXP static long recurse(long n) {
  volatile char frame[300];
  frame[n % 300] = 1;
  deepest = n;
  if (n == limit)
    return 0;
  return recurse(n + 1) + frame[n % 300];
}
static void handler(int signal) { siglongjmp(env, signal); }

int main(void) {
  stack_t ss = {.ss_sp = malloc(1 << 18), .ss_size = 1 << 18};
  sigaltstack(&ss, NULL);
  struct sigaction a = {.sa_handler = handler, .sa_flags = SA_ONSTACK};
  sigaction(SIGSEGV, &a, NULL);
  for (volatile int i = 0; i < 3; i++) {
    int got = sigsetjmp(env, 1);
    if (got == 0)
      recurse(0);
    printf("%d %d\n", got == SIGSEGV, deepest > 5000);
  }
  limit = 1000;
  printf("%ld\n", recurse(0));
}
