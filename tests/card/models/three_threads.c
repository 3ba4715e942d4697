// Three threads on two harts: they sleep, wake each other, yield, and one of them is more urgent.
// What the kernel does with them is compared with its model (firmware/core/tests/trace_replay.rs).
#include "../bare_card.h"

enum { THREAD_WAKEUP = 22, THREAD_PRIORITY = 26, ROUNDS = 600 };

static char stacks[2][4096] __attribute__((aligned(4096)));
static u64 threads[3], ticks;

static void rounds(u64 self) {
  u64 state = self * 2654435761 + 88172645463325252;
  for (int n = 0; n < ROUNDS; n++) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    for (volatile u64 k = 0; k < state % 300; k++)
      ;
    switch (state >> 20 & 3) {
    case 0:
      call1(THREAD_YIELD, 0);
      break;
    case 1:
      call1(THREAD_WAKEUP, threads[state >> 30 & 1 ? (self + 1) % 3 : (self + 2) % 3]);
      break;
    default:
      call1(THREAD_SLEEP, now() + state / 7 % ticks);
    }
  }
  // The first thread ends all, when the others have come to here.
  do
    call1(THREAD_SLEEP, self ? -1ul : now() + 1000 * ticks);
  while (self);
}

void _start(struct program_start *start) {
  only_on_first_tile(start);
  ticks = start->frequency / 50000;
  // All of them sleep first: the model begins so.
  threads[0] = call1(0, 0);
  call(THREAD_PRIORITY, threads[0], 3, 0, 0, 0, 0, 0);
  for (u64 n = 0; n < 2; n++)
    threads[n + 1] = call(THREAD_CREATE, (u64)rounds, n + 1, (u64)stacks[n] + 4096, 0, 4, 0, 0);
  rounds(0);
  call(PROCESS_END, 0, 0, 0, 0, 0, 0, 0);
}
