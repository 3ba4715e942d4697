// Three threads on three harts call the kernel hart as fast as they can, and with pauses. How they
// are answered is compared with a model (firmware/core/tests/replay/call_replay.rs).
#include "../bare_card.h"

enum { THREAD_PLACE = 25, THREADS = 3, ROUNDS = 200 };

static char stacks[THREADS][4096] __attribute__((aligned(4096)));
static u64 begun, ended;

static void caller(u64 self) {
  u64 state = self * 2654435761 + 88172645463325252;
  call(THREAD_PLACE, call1(0, 0), 2ul << self, 0, 0, 0, 0, 0);
  // Nobody calls before all are there, or something else before all have called.
  __atomic_add_fetch(&begun, 1, __ATOMIC_ACQ_REL);
  while (__atomic_load_n(&begun, __ATOMIC_ACQUIRE) < THREADS)
    ;
  for (int n = 0; n < ROUNDS; n++) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    for (volatile u64 k = state >> 20 & 1 ? 0 : state % 300; k; k--)
      ;
    call1(KERNEL_NOTHING, 0);
  }
  __atomic_add_fetch(&ended, 1, __ATOMIC_ACQ_REL);
  while (__atomic_load_n(&ended, __ATOMIC_ACQUIRE) < THREADS)
    ;
  call(PROCESS_END, 0, 0, 0, 0, 0, 0, 0);
}

void _start(struct program_start *start) {
  only_on_first_tile(start);
  for (u64 n = 1; n < THREADS; n++)
    call(THREAD_CREATE, (u64)caller, n, (u64)stacks[n] + 4096, 0, 4, 0, 0);
  caller(0);
}
