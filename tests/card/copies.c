// A child has a copy of its parent's memory; who stores gets pages of its own. Pages that a child
// gets by `process_map` are copies, too.
#include "bare_card.h"

enum {
  PROCESS_CREATE = 40,
  PROCESS_MAP = 42,
  PROCESS_SELF = 46,
  MEMORY_MAP = 32,
  MEMORY_UNMAP = 33
};

static volatile u64 words[4096];
static char stack[4096] __attribute__((aligned(16)));

static void child(u64 argument) {
  u64 sum = 0;
  for (u64 n = 0; n < 4096; n += 512) {
    sum += words[n];
    words[n] = argument;
  }
  for (u64 n = 0; n < 4096; n += 512)
    sum += words[n];
  call(PROCESS_END, 0, sum, 0, 0, 0, 0, 0);
}

void _start(struct program_start *start) {
  only_on_first_tile(start);
  u64 all, before = call(MEMORY_FREE, 0, 0, 0, 0, 0, 0, &all);
  for (u64 n = 0; n < 4096; n += 512)
    words[n] = n / 512;
  stack[0] = 1;
  u64 status[3];
  for (u64 round = 0; round < 3; round++) {
    u64 number = call(PROCESS_COPY, 0, 0, 0, 0, 0, 0, 0);
    call(PROCESS_START, number, (u64)child, (u64)stack + 4096, 10 + round, 0, 0, 0);
    words[0] = 100 + round;
    if (call(PROCESS_WAIT, number, now() + start->frequency, 0, 0, 0, 0, &status[round]) != number)
      write_text("no child has ended\n");
    words[0] = 0;
  }
  // The child may have loaded word 0 before or after the parent's store to its own copy: never the
  // new one.
  for (int n = 0; n < 3; n++)
    print("status ", status[n], "\n");
  u64 sum = 0;
  for (u64 n = 0; n < 4096; n += 512)
    sum += words[n];
  print("here ", sum, "\n");
  u64 empty = call(PROCESS_CREATE, 0, 0, 0, 0, 0, 0, 0);
  u64 at = call(PROCESS_MAP, empty, 0, (u64)words & -4096ul, 8192, 1, 0, 0);
  print("mapped at ", at >> 32, "\n");
  print("more rights: ", -call(PROCESS_MAP, empty, 0x1000, (u64)_start & -4096ul, 4096, 3, 0, 0),
        "\n");
  call(PROCESS_END, empty, 3, 0, 0, 0, 0, 0);
  u64 left;
  call(PROCESS_WAIT, empty, -1ul, 0, 0, 0, 0, &left);
  print("its status ", left, "\n");
  print("no child: ", -call(PROCESS_WAIT, 0, -1ul, 0, 0, 0, 0, 0), "\n");
  u64 map = call(MEMORY_MAP, 0, 1 << 20, 3, 0, 0, 0, 0);
  for (u64 n = 0; n < 1 << 20; n += 4096)
    *(volatile char *)(map + n) = 1;
  call(MEMORY_UNMAP, map, 1 << 20, 0, 0, 0, 0, 0);
  u64 after = call(MEMORY_FREE, 0, 0, 0, 0, 0, 0, &all);
  // The words' own pages, tables for the mapping, and registers of threads.
  print("pages are missing: ", before - after > 20, "\n");
  call1(THREAD_EXIT, 0);
}
