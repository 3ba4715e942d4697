// A handler that is NxP code catches the overflow of an NxP recursion, four times over. It calls
// the host, which calls the NxP again, and leaves for an NxP frame above the recursion, whose
// variables and callers are as they were.
// OUT: 11: 5 90
// OUT: 11: 5 90
// OUT: 11: 5 90
// OUT: 11: 5 90
// OUT: 100
// SKIP-VALGRIND: memcheck reports the overflow that is the subject
#define _GNU_SOURCE
#include <flick.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

static sigjmp_buf env;
static volatile long limit = 1L << 40;
static volatile int sorted;

FLICK_NXP static long recurse(long n) {
  volatile char frame[300];
  frame[n % 300] = 1;
  return n == limit ? n : recurse(n + 1) + frame[n % 300] - 1;
}

FLICK_NXP static int compare(const void *a, const void *b) {
  return *(const int *)a - *(const int *)b;
}

FLICK_NXP static void handler(int signal) {
  int values[] = {4, 2, 5, 1, 3};
  qsort(values, 5, sizeof *values, compare);
  sorted = values[4];
  siglongjmp(env, signal);
}

FLICK_NXP static int attempt(void) {
  int kept[10];
  for (int i = 0; i < 10; i++)
    kept[i] = 2 * i;
  int *volatile seen = kept;
  int got = sigsetjmp(env, 1);
  if (got == 0)
    return (int)recurse(0);
  int sum = 0;
  for (int i = 0; i < 10; i++)
    sum += seen[i];
  printf("%d: %d %d\n", got, sorted, sum);
  return sum;
}

FLICK_NXP static int deeper(int depth) { return depth == 0 ? attempt() : deeper(depth - 1); }

int main(void) {
  stack_t ss = {.ss_sp = malloc(1 << 18), .ss_size = 1 << 18};
  sigaltstack(&ss, NULL);
  struct sigaction a = {.sa_handler = handler, .sa_flags = SA_ONSTACK};
  sigaction(SIGSEGV, &a, NULL);
  for (int i = 0; i < 4; i++)
    if (deeper(i) != 90)
      printf("%d\n", i);
  limit = 100;
  printf("%d\n", deeper(2));
}
