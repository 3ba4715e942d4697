// What traces and `flick machine stat` have to see: calls of both places, a thread that sleeps
// until another one wakes it, one that sleeps until a time, and a join that waits.
#include "../bare_card.h"

enum { THREAD_SELF = 0, THREAD_WAKEUP = 22 };

static char stack[1024] __attribute__((aligned(16)));
static volatile u64 first, frequency;

static void second(u64 calls) {
  for (u64 n = 0; n < calls; n++)
    call1(KERNEL_NOTHING, 0);
  call1(THREAD_WAKEUP, first);
  call1(THREAD_SLEEP, now() + frequency / 1000);
  call1(THREAD_EXIT, 7);
}

static u64 cycles(void) {
  u64 count;
  __asm__ volatile("rdcycle %0" : "=r"(count));
  return count;
}

void _start(struct program_start *start) {
  only_on_first_tile(start);
  u64 begun = cycles();
  for (int n = 0; n < 100; n++)
    call1(THREAD_SELF, 0);
  for (int n = 0; n < 3; n++)
    call1(CACHE_REFRESH, 0);
  for (int n = 0; n < 100; n++)
    call1(KERNEL_NOTHING, 0);
  first = call1(THREAD_SELF, 0);
  frequency = start->frequency;
  u64 id = call(THREAD_CREATE, (u64)second, 50, (u64)stack + sizeof stack, 0, 4, 0, 0);
  call1(THREAD_SLEEP, -1ul);
  u64 value = 0;
  call(THREAD_JOIN, id, -1ul, 0, 0, 0, 0, &value);
  print("joined: ", value, "\n");
  print("cycles: ", cycles() - begun, "\n");
  call1(THREAD_EXIT, 0);
}
