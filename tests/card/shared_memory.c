// Pages that a process shares with a child, before the child starts and while it runs: both see
// each other's stores, copies of the processes do, too, and no right is gained.
#include "bare_card.h"

enum { MEMORY_MAP = 32, MEMORY_PROTECT = 34, PROCESS_MAP = 42, SHARED = 8 };

#define FIRST 0x3000000000ul
#define SECOND (FIRST + 4096)
#define READ_ONLY (FIRST + 8192)

static char stack[4096] __attribute__((aligned(16)));
static char grandchild_stack[4096] __attribute__((aligned(16)));

// An atomic operation acts on memory, also where caches are not coherent.
static u64 load(u64 at) { return __atomic_fetch_or((u64 *)at, 0, __ATOMIC_ACQ_REL); }
static void store(u64 at, u64 value) { __atomic_exchange_n((u64 *)at, value, __ATOMIC_ACQ_REL); }

static void await(u64 at, u64 value) {
  while (load(at) != value)
    call1(THREAD_YIELD, 0);
}

static void grandchild(u64 argument) {
  store(FIRST + 8, argument);
  call(PROCESS_END, 0, load(FIRST), 0, 0, 0, 0, 0);
}

static void child(u64 argument) {
  store(FIRST, argument);
  await(FIRST, 2);
  // The second page was shared meanwhile.
  u64 sum = load(SECOND);
  store(SECOND, 40);
  u64 number = call1(PROCESS_COPY, 0), status;
  call(PROCESS_START, number, (u64)grandchild, (u64)grandchild_stack + 4096, 7, 0, 0, 0);
  call(PROCESS_WAIT, number, -1ul, 0, 0, 0, 0, &status);
  sum += load(FIRST + 8) + status;
  // A store to what came without the right is a store to a copy, after the right is there.
  call(MEMORY_PROTECT, READ_ONLY, 4096, 3, 0, 0, 0, 0);
  store(READ_ONLY, 1);
  call(PROCESS_END, 0, sum, 0, 0, 0, 0, 0);
}

void _start(struct program_start *start) {
  only_on_first_tile(start);
  u64 pages = call(MEMORY_MAP, 0, 3 * 4096, 3, 0, 0, 0, 0), status;
  store(pages + 8192, 30);
  u64 number = call1(PROCESS_COPY, 0);
  print("shared ", call(PROCESS_MAP, number, FIRST, pages, 4096, 3 | SHARED, 0, 0) == FIRST, "\n");
  call(PROCESS_START, number, (u64)child, (u64)stack + 4096, 1, 0, 0, 0);
  await(pages, 1);
  print("a copy for one with threads: ",
        -call(PROCESS_MAP, number, SECOND, pages + 4096, 4096, 3, 0, 0), "\n");
  store(pages + 4096, 20);
  print("shared ",
        call(PROCESS_MAP, number, SECOND, pages + 4096, 4096, 3 | SHARED, 0, 0) == SECOND, "\n");
  u64 third = call(PROCESS_MAP, number, READ_ONLY, pages + 8192, 4096, 1 | SHARED, 0, 0);
  print("shared ", third == READ_ONLY, "\n");
  print("twice: ", -call(PROCESS_MAP, number, SECOND, pages + 4096, 4096, 3 | SHARED, 0, 0), "\n");
  print("what cannot be stored to: ",
        -call(PROCESS_MAP, number, 0, (u64)_start & -4096ul, 4096, 1 | SHARED, 0, 0), "\n");
  print("what is not there: ", -call(PROCESS_MAP, number, 0, FIRST, 4096, 3 | SHARED, 0, 0), "\n");
  store(pages, 2);
  call(PROCESS_WAIT, number, -1ul, 0, 0, 0, 0, &status);
  print("the child has seen ", status, "\n");
  print("here ", load(pages + 4096) + load(pages + 8), "\n");
  print("and ", load(pages + 8192), "\n");
  call1(THREAD_EXIT, 0);
}
