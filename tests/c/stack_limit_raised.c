// The stack limit is raised after the first crossing (as compilers do). Then host code deep in the
// stack crosses, and leaves NxP frames by longjmp.
// OUT: 3 0 25
// SKIP-VALGRIND: it does not let the stack limit grow
// SKIP-RANDOM: an NxP stack keeps the size that the limit had at the first crossing
#include "flick.h"
#include <setjmp.h>
#include <stdio.h>
#include <sys/resource.h>

static jmp_buf back;

FLICK_HOST __attribute__((noinline)) static void leave(int go) {
  if (go)
    longjmp(back, 1);
}
FLICK_NXP __attribute__((noinline)) static int left(int go) {
  leave(go);
  return 5;
}
FLICK_HOST __attribute__((noinline)) static int middle(void) {
  if (!setjmp(back))
    left(1);
  return 3;
}
FLICK_NXP __attribute__((noinline)) static int outer(int x) { return middle() + x; }
FLICK_HOST __attribute__((noinline)) static int deep(int n) {
  volatile char frame[100000];
  __asm__ volatile("" ::"r"(frame) : "memory");
  frame[5] = 0;
  if (n)
    return deep(n - 1) + frame[5];
  int sum = 0;
  for (int i = 0; i < 5; ++i)
    sum += outer(i);
  return sum;
}

int main(void) {
  int first = outer(0);
  struct rlimit limit;
  getrlimit(RLIMIT_STACK, &limit);
  limit.rlim_cur = 64 << 20;
  int set = setrlimit(RLIMIT_STACK, &limit);
  int sum = deep(200);
  printf("%d %d %d\n", first, set, sum);
  return 0;
}
