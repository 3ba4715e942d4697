// Exceptions of threads go to a handler on a thread of its own: it repairs a page's rights, skips
// an instruction, and sets a register. Several threads have exceptions at once.
#include "bare_card.h"

enum {
  EXCEPTION_WAIT = 28,
  EXCEPTION_RESUME = 29,
  THREAD_STATE = 27,
  MEMORY_MAP = 32,
  MEMORY_PROTECT = 34
};

struct record {
  u64 thread, cause, pc, value;
};

struct state {
  u64 pc, x[31], f[32], fcsr;
};

#define WORKERS 6
static char stacks[WORKERS + 2][4096] __attribute__((aligned(16)));
static volatile u64 *page;
static volatile u64 handled[16];
static volatile u64 skipped;

static void handler(u64 unused) {
  (void)unused;
  for (;;) {
    struct record record;
    if (is_error(call(EXCEPTION_WAIT, (u64)&record, now() + 1000000, 0, 0, 0, 0, 0)))
      call1(THREAD_EXIT, 1);
    __atomic_fetch_add(&handled[record.cause], 1, __ATOMIC_RELAXED);
    switch (record.cause) {
    case 15: // A store to a page without the right.
      call(MEMORY_PROTECT, (u64)page, 4096, 3, 0, 0, 0, 0);
      call(EXCEPTION_RESUME, record.thread, 0, 0, 0, 0, 0, 0);
      break;
    case 2: { // An illegal instruction of 4 bytes: s2 gets what it would have computed.
      struct state state;
      call(THREAD_STATE, record.thread, (u64)&state, 0, 0, 0, 0, 0);
      state.x[18 - 1] += 100;
      state.f[8] = 0x4045000000000000; // 42.0
      call(THREAD_STATE, record.thread, (u64)&state, 1, 0, 0, 0, 0);
      call(EXCEPTION_RESUME, record.thread, record.pc + 4, 0, 0, 0, 0, 0);
      break;
    }
    case 3: // A breakpoint of 2 bytes.
      call(EXCEPTION_RESUME, record.thread, record.pc + 2, 0, 0, 0, 0, 0);
      break;
    }
  }
}

static void worker(u64 number) {
  u64 sum = 0;
  for (int round = 0; round < 20; round++) {
    register u64 s2 __asm__("s2") = number;
    double result;
    __asm__ volatile("li s2, 0\n add s2, %2, zero\n .word 0xffffffff\n mv %0, s2\n fmv.d %1, fs0"
                     : "=&r"(sum), "=f"(result)
                     : "r"(number)
                     : "s2", "fs0", "memory");
    (void)s2;
    if (sum != number + 100 || result != 42.0)
      call1(THREAD_EXIT, -1ul);
    __asm__ volatile("c.ebreak");
    skipped++;
  }
  page[number] = number;
  call1(THREAD_EXIT, sum);
}

void _start(struct program_start *start) {
  only_on_first_tile(start);
  page = (u64 *)call(MEMORY_MAP, 0, 4096, 3, 0, 0, 0, 0);
  page[100] = 7;
  call(MEMORY_PROTECT, (u64)page, 4096, 1, 0, 0, 0, 0);
  for (int n = 0; n < 2; n++)
    call(THREAD_CREATE, (u64)handler, 0, (u64)stacks[WORKERS + n] + 4096, 0, 3, 0, 0);
  // Both wait before there is an exception.
  call1(THREAD_SLEEP, now() + start->frequency / 1000);
  u64 ids[WORKERS], total = 0;
  for (u64 n = 0; n < WORKERS; n++)
    ids[n] = call(THREAD_CREATE, (u64)worker, n, (u64)stacks[n] + 4096, 0, 4, 0, 0);
  for (u64 n = 0; n < WORKERS; n++) {
    u64 value = 0;
    if (is_error(call(THREAD_JOIN, ids[n], -1ul, 0, 0, 0, 0, &value)))
      write_text("a join failed\n");
    total += value;
  }
  call1(CACHE_REFRESH, 0);
  u64 written = 0;
  for (u64 n = 0; n < WORKERS; n++)
    written += page[n];
  print("sums ", total, "\n");
  print("illegal instructions ", handled[2], "\n");
  print("breakpoints ", handled[3], "\n");
  print("written ", written + page[100], "\n");
  call(PROCESS_END, 0, 5, 0, 0, 0, 0, 0);
}
