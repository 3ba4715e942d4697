// A handler on the NxP catches the overflow of an NxP recursion and jumps to an NxP frame, over
// which it has run itself.
// FAILS: run FLK0504
// EXIT: 125
// SAYS: on the host
#define _GNU_SOURCE
#include <flick.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

static sigjmp_buf env;
static volatile long limit = 1L << 40;

FLICK_NXP static long recurse(long n) {
  volatile char frame[300];
  frame[n % 300] = 1;
  return n == limit ? 0 : recurse(n + 1) + frame[n % 300];
}
FLICK_NXP static void handler(int signal) { siglongjmp(env, signal); }
FLICK_NXP static long attempt(void) { return sigsetjmp(env, 1) ? 0 : recurse(0); }

int main(void) {
  stack_t ss = {.ss_sp = malloc(1 << 18), .ss_size = 1 << 18};
  sigaltstack(&ss, NULL);
  struct sigaction a = {.sa_handler = handler, .sa_flags = SA_ONSTACK};
  sigaction(SIGSEGV, &a, NULL);
  printf("%ld\n", attempt());
}
