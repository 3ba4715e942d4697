// A thread makes a more urgent one, and goes on without calls. The urgent one runs at once, on the
// same hart if there is no other, and the hart is not lost.
#include "bare_card.h"

static char stack[2048] __attribute__((aligned(16)));
static u64 ran;

static void urgent(u64 argument) {
  (void)argument;
  __atomic_exchange_n(&ran, now(), __ATOMIC_RELAXED);
  call1(THREAD_EXIT, 0);
}

void _start(struct program_start *start) {
  only_on_first_tile(start);
  // Longer than the kernel waits for a hart.
  u64 end = now() + start->frequency / 3;
  u64 thread = call(THREAD_CREATE, (u64)urgent, 0, (u64)stack + sizeof(stack), 0, 0, 0, 0);
  while (now() < end)
    ;
  call(THREAD_JOIN, thread, -1ul, 0, 0, 0, 0, 0);
  // An emulator may have stood still meanwhile, but not behind the loop.
  u64 time = __atomic_fetch_add(&ran, 0, __ATOMIC_RELAXED);
  write_text(time < end ? "it ran at once\n" : "it ran late\n");
  call(PROCESS_END, 0, 0, 0, 0, 0, 0, 0);
}
