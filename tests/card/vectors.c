// Vector registers belong to threads: more threads than harts use them, and yield, sleep and move
// between harts in between. A hart without vectors: the program says so.
#include "bare_card.h"

enum { EXCEPTION_WAIT = 28 };

#define THREADS 12
static char stacks[THREADS][2048] __attribute__((aligned(16)));
static volatile u64 failures;

#define SET ".option push\n.option arch, +v\n"
#define POP "\n.option pop"

static void worker(u64 number) {
  u64 values[8];
  for (int n = 0; n < 8; n++)
    values[n] = number * 100 + n;
  // v1 has the values, v31 four times as many, and vl is 3.
  __asm__ volatile(
      SET
      "vsetivli zero, 2, e64, m1, ta, ma\nvle64.v v1, (%0)\nvadd.vv v31, v1, v1\nvadd.vv v31, v31, "
      "v31\nvsetivli zero, 3, e16, m2, ta, mu\ncsrwi vxrm, 2" POP
      :
      : "r"(values)
      : "memory", "v1", "v31");
  for (int round = 0; round < 10; round++) {
    if (round & 1)
      call1(THREAD_YIELD, 0);
    else
      call1(THREAD_SLEEP, now() + 10 + number);
    u64 length, kind, rounding, first[2], last[2];
    __asm__ volatile(SET "csrr %0, vl\ncsrr %1, vtype\ncsrr %2, vxrm\nvsetivli zero, 2, e64, m1, "
                         "ta, ma\nvse64.v v1, (%3)\n"
                         "vse64.v v31, (%4)\nvsetvl zero, %0, %1" POP
                     : "=&r"(length), "=&r"(kind), "=&r"(rounding)
                     : "r"(first), "r"(last)
                     : "memory");
    int good = length == 3 && kind == 0x49 && rounding == 2;
    for (int n = 0; n < 2; n++)
      good = good && first[n] == values[n] && last[n] == 4 * values[n];
    if (!good)
      __atomic_fetch_add(&failures, 1, __ATOMIC_RELAXED);
  }
  call1(THREAD_EXIT, 0);
}

void _start(struct program_start *start) {
  only_on_first_tile(start);
  u64 all, before = call(MEMORY_FREE, 0, 0, 0, 0, 0, 0, &all);
  u64 ids[THREADS];
  for (int round = 0; round < 3; round++) {
    for (u64 n = 0; n < THREADS; n++)
      ids[n] = call(THREAD_CREATE, (u64)worker, n, (u64)stacks[n] + 2048, 0, 4, 0, 0);
    for (u64 n = 0; n < THREADS; n++)
      call(THREAD_JOIN, ids[n], -1ul, 0, 0, 0, 0, 0);
  }
  print("failures ", __atomic_fetch_add(&failures, 0, __ATOMIC_RELAXED), "\n");
  // The stacks' pages, and contexts; not three times twelve vector states.
  print("pages are lost ", before - call(MEMORY_FREE, 0, 0, 0, 0, 0, 0, &all) > 14, "\n");
  call1(THREAD_EXIT, 0);
}
