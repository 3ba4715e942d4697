// Children that compute and call, while harts and interrupts fail: who is hit ends, and the others
// go on. Without faults all of them end well.
#include "bare_card.h"

enum { THREAD_PLACE = 25, THREAD_SELF = 0 };

#define CHILDREN 3
static char stacks[CHILDREN + 1][2048] __attribute__((aligned(16)));

static void child(u64 end) {
  u64 sum = 0, rounds = 0;
  while (now() < end) {
    for (u64 n = 0; n < 100; n++)
      sum += n;
    if (++rounds % 16 == 0)
      call1(KERNEL_NOTHING, 0);
    if (rounds % 64 == 0)
      call1(THREAD_SLEEP, now() + 20);
  }
  call(PROCESS_END, 0, sum == rounds * 4950 ? 0 : 1, 0, 0, 0, 0, 0);
}

void _start(struct program_start *start) {
  only_on_first_tile(start);
  u64 ids[CHILDREN], good = 0, lost = 0;
  u64 end = now() + start->frequency / 50;
  for (int n = 0; n < CHILDREN; n++) {
    ids[n] = call(PROCESS_COPY, 0, 0, 0, 0, 0, 0, 0);
    call(PROCESS_START, ids[n], (u64)child, (u64)stacks[n] + 2048, end, 0, 0, 0);
  }
  for (int n = 0; n < CHILDREN; n++) {
    u64 status = -1ul;
    u64 got = call(PROCESS_WAIT, ids[n], end + start->frequency / 10, 0, 0, 0, 0, &status);
    if (is_error(got)) {
      call(PROCESS_END, ids[n], 9, 0, 0, 0, 0, 0);
      call(PROCESS_WAIT, ids[n], end + start->frequency, 0, 0, 0, 0, &status);
    }
    if (status == 0)
      good++;
    else
      lost++;
  }
  print("ended well: ", good, "\n");
  print("lost: ", lost, "\n");
  // The kernel serves others as before.
  call1(THREAD_SLEEP, now() + start->frequency / 1000);
  call1(THREAD_EXIT, 0);
}
