// Threads move to harts that have what they execute, with all their registers, while others wait
// for the same harts. The same output where all harts are alike.
#include "../bare_card.h"

enum { THREAD_PLACE = 25, HINT = 30, MEMORY_MAP = 32, MEMORY_UNMAP = 33 };
enum { EXCEPTION_WAIT = 28, EXCEPTION_RESUME = 29, VECTORS = 1 };
struct record {
  u64 thread, cause, pc, value;
};

#define THREADS 60
static char stacks[THREADS + 2][2048] __attribute__((aligned(16)));
static volatile u64 failures, has_bits;
static u64 *volatile page;

#define SET ".option push\n.option arch, +v, +zba, +zbb\n"
#define POP "\n.option pop"

// All kinds of registers have values across instructions that only some harts have.
static u64 round_trip(u64 number, u64 by_hint) {
  u64 in[2] = {number, number + 1}, out[2], sum = number, bits = number;
  double real = (double)number / 3;
  register u64 saved __asm__("s9") = ~number;
  __asm__ volatile(SET "vsetivli zero, 2, e64, m1, ta, ma\nvle64.v v9, (%0)\nvadd.vv v9, v9, v9" POP
                   :
                   : "r"(in)
                   : "memory", "v9");
  if (by_hint)
    call1(HINT, 0);
  real = real * 3 + 1;
  // Zba and Zbb, which may be on other harts than vectors.
  if (has_bits)
    __asm__ volatile(SET "sh3add %0, %0, %0\nandn %1, zero, %1" POP : "+r"(sum), "+r"(bits));
  else
    sum *= 9, bits = 0;
  if (by_hint == 2 && is_error(call1(HINT, VECTORS)))
    return 1;
  u64 length;
  __asm__ volatile(SET "csrr %0, vl\nvadd.vv v9, v9, v9\nvse64.v v9, (%1)" POP
                   : "=&r"(length)
                   : "r"(out)
                   : "memory", "v9");
  __asm__ volatile("" : "+r"(saved));
  return length != 2 || out[0] != 4 * number || out[1] != 4 * number + 4 || sum != 9 * number ||
         bits != 0 || saved != ~number || real < (double)number + 0.99 ||
         real > (double)number + 1.01;
}

static void worker(u64 number) {
  for (u64 n = 0; n < 12; n++) {
    if (round_trip(number * 1000 + n, n % 3))
      __atomic_fetch_add(&failures, 1, __ATOMIC_RELAXED);
    if (n % 4 == 3)
      call1(THREAD_SLEEP, now() + 5);
  }
  call1(THREAD_EXIT, number);
}

// Stores vectors to a page that is taken away meanwhile.
static void storing(u64 unused) {
  (void)unused;
  for (;;)
    __asm__ volatile(SET "vsetivli zero, 2, e64, m1, ta, ma\nvse64.v v9, (%0)" POP
                     :
                     : "r"(page)
                     : "memory", "v9");
}

static void computing(u64 unused) {
  (void)unused;
  for (;;)
    __asm__ volatile(SET "vsetivli zero, 2, e64, m1, ta, ma\nvadd.vv v9, v9, v9" POP ::: "v9");
}

static void illegal(u64 is_custom) {
  if (is_custom) // custom-0
    __asm__ volatile(".word 0x0000000b");
  __asm__ volatile(".word 0xffffffff");
}

static u64 stack(u64 n) { return (u64)stacks[n] + sizeof stacks[n]; }

static u64 status_of(void (*begin)(u64), u64 argument, u64 ends_early) {
  u64 child = call(PROCESS_COPY, 0, 0, 0, 0, 0, 0, 0), status;
  call(PROCESS_START, child, (u64)begin, stack(THREADS), argument, 0, 0, 0);
  if (ends_early) {
    call1(THREAD_SLEEP, now() + 20000);
    call(PROCESS_END, child, 7, 0, 0, 0, 0, 0);
  }
  call(PROCESS_WAIT, child, -1ul, 0, 0, 0, 0, &status);
  return status;
}

void _start(struct program_start *start) {
  only_on_first_tile(start);
  has_bits = start->arguments == 1;
  u64 all, ids[THREADS], lost = 0, value;
  for (int round = 0; round < 2; round++) {
    for (u64 n = 0; n < THREADS; n++)
      ids[n] = call(THREAD_CREATE, (u64)worker, n, stack(n), 0, 4, 0, 0);
    for (u64 n = 0; n < THREADS; n++) {
      lost += call(THREAD_JOIN, ids[n], now() + 20 * start->frequency, 0, 0, 0, 0, &value) != 0;
      lost += value != n;
    }
  }
  print("failures ", failures, "\n");
  print("lost ", lost, "\n");
  u64 before = call(MEMORY_FREE, 0, 0, 0, 0, 0, 0, &all);

  struct record record = {0, 0, 0, 0};
  call(EXCEPTION_WAIT, (u64)&record, 0, 0, 0, 0, 0, 0);
  page = (u64 *)call(MEMORY_MAP, 0, 4096, 3, 0, 0, 0, 0);
  u64 thread = call(THREAD_CREATE, (u64)storing, 0, stack(0), 0, 4, 0, 0);
  call1(THREAD_SLEEP, now() + 20000);
  call(MEMORY_UNMAP, (u64)page, 4096, 0, 0, 0, 0, 0);
  u64 told = call(EXCEPTION_WAIT, (u64)&record, now() + start->frequency, 0, 0, 0, 0, 0);
  print("a page is taken away: ", told == 0 && record.thread == thread && record.cause == 15, "\n");
  call(EXCEPTION_RESUME, thread, (u64)computing, 0, 0, 0, 0, 0);

  print("killed while away: ", status_of(computing, 0, 1), "\n");
  print("illegal everywhere: ", status_of(illegal, 0, 0), "\n");
  print("a vendor's: ", status_of(illegal, 1, 0), "\n");
  print("other extensions: ", -call1(HINT, 1 << 20), "\n");
  print("pages are lost ", before - call(MEMORY_FREE, 0, 0, 0, 0, 0, 0, &all) > 4, "\n");
  call(PROCESS_END, 0, 0, 0, 0, 0, 0, 0);
}
