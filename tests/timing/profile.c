// Who calls whom how often, in ways that a profile could get wrong. A line EDGE is a caller, a
// callee and a count.
// EDGE: main twice 1000
// EDGE: twice leaf 2000
// EDGE: twice large 1000
// EDGE: large leaf 1000
// EDGE: main grows 10
// EDGE: grows leaf 1000
// EDGE: main asks 3
// EDGE: asks answers 900
// EDGE: asks on_nxp 900
// EDGE: main throws_back 7
// EDGE: throws_back leaf 7
// EDGE: compares differs 63
// EDGE: main even 4
// EDGE: even odd 20
// EDGE: odd even 20
// EDGE: even leaf 6
// EDGE: main hands_over 6
// EDGE: hands_over on_nxp 6
// EDGE: starts even 2
// EDGE: main varies 3
// EDGE: varies hands_on 15
// EDGE: hands_on answers 15
// EDGE: varies asked 15
// EDGE: asked on_nxp 15
// EDGE: varies on_nxp 15
// EDGE: varies answers 30
#include <alloca.h>
#include <flick.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define APART __attribute__((noinline))

static volatile long bias;
static volatile long compared;
static jmp_buf back;

APART static long leaf(long x) { return x + bias; }

// Two calls in one block, of functions with frames of different size.
APART static long large(long x) {
  volatile char frame[400];
  frame[x & 255] = (char)x;
  return leaf(frame[x & 255]) + 1;
}
APART static long twice(long x) { return leaf(x) + leaf(x + 1) + large(x); }

APART static long grows(long x) {
  long sum = 0;
  for (int i = 0; i < 100; i++) {
    volatile char *more = alloca(16);
    more[0] = (char)i;
    sum += leaf(x) + more[0];
  }
  return sum;
}

APART static long recurses(long x) { return x == 0 ? bias : recurses(x - 1) + 1; }

APART FLICK_HOST static long answers(long x) { return x * 3 + bias; }
// Calls the host more often than calls of the NxP are kept.
APART FLICK_NXP long on_nxp(long x) { return x ^ bias; }
APART FLICK_NXP long asks(long x) {
  long sum = 0;
  for (int i = 0; i < 300; i++)
    sum += answers(on_nxp(x + i));
  return sum;
}

APART static void throws_back(long x) {
  bias += leaf(x);
  longjmp(back, 1);
}

// Called by the library, and calls itself.
APART static int differs(long x, long y) { return (x > y) - (x < y) + (int)bias; }
static int compares(const void *a, const void *b) {
  compared++;
  return differs(*(const long *)a, *(const long *)b) + 0 * (int)compared;
}

// By turns, in one frame.
#define TAIL __attribute__((musttail)) return
static long odd(long x);
APART static long even(long x) {
  if (x == 0)
    TAIL leaf(x);
  TAIL odd(x - 1);
}
APART static long odd(long x) {
  volatile char frame[200];
  frame[x] = 1;
  TAIL even(x - frame[x]);
}
APART static long hands_over(long x) { TAIL on_nxp(x); }
APART FLICK_NXP long starts(long (*from)(long), long x) { return from(x) + 1; }

// The host returns to the caller's caller.
APART FLICK_NXP long hands_on(long x) { return answers(x); }
APART FLICK_NXP long asked(long x) { return on_nxp(x) + 1; }
// By pointers NxP code calls itself by gates, and the host.
APART FLICK_NXP long varies(long (*volatile first)(long), long (*volatile second)(long), long x) {
  long sum = 0;
  for (int i = 0; i < 5; i++)
    sum += hands_on(x) + first(x) + on_nxp(x) + second(x) + answers(x);
  return sum;
}

int main(void) {
  long sum = 0;
  for (long i = 0; i < 1000; i++)
    sum += twice(i);
  for (long i = 0; i < 10; i++)
    sum += grows(i);
  for (long i = 0; i < 5; i++)
    sum += recurses(9);
  for (long i = 0; i < 3; i++)
    sum += asks(i);
  for (volatile int i = 0; i < 7; i++)
    if (!setjmp(back))
      throws_back(0);
  for (long i = 0; i < 4; i++)
    sum += even(10);
  for (long i = 0; i < 6; i++)
    sum += hands_over(i);
  for (long i = 0; i < 2; i++)
    sum += starts(even, 0);
  for (long i = 0; i < 3; i++)
    sum += varies(asked, answers, i);
  long table[20];
  for (long i = 0; i < 20; i++)
    table[i] = i * 7 % 20;
  qsort(table, 20, sizeof *table, compares);
  printf("%ld %ld %ld\n", sum, table[3], compared);
  return 0;
}
