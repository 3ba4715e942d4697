// Which harts threads run on, on unequal.toml: each line is a rule of docs/migration.md.
#include "../bare_card.h"

enum { THREAD_SELF = 0, THREAD_PLACE = 25, HINT = 30, MEMORY_MAP = 32 };
enum { VECTORS = 1, CUSTOM = 4, NOT_FOUND = 2 };
enum { ALL = 0x3ff, SMALL = 0x18, VECTOR = 0xe0, BITS = 0x100, UNIT = 0x200 };
enum { SPECIAL = SMALL | VECTOR | BITS | UNIT, MOST = 250 };

static char stacks[MOST][1024] __attribute__((aligned(16)));
static volatile u64 arrived, left, stop, harts_of, slice;

#define SET ".option push\n.option arch, +v, +zba\n"
#define POP "\n.option pop"

static void vector(void) {
  __asm__ volatile(SET "vsetivli zero, 2, e64, m1, ta, ma\nvadd.vv v9, v9, v9" POP ::: "v9");
}
static void address(void) {
  u64 sum = 1;
  __asm__ volatile(SET "sh3add %0, %0, %0" POP : "+r"(sum));
}
static void unit(void) {
  u64 dots = 1;
  __asm__ volatile(".insn r 0x0b, 7, 0, %0, %0, %0" : "+r"(dots));
}
static void real(void) { __asm__ volatile("fcvt.d.l fa0, zero\nfadd.d fa0, fa0, fa0" ::: "fa0"); }
static void nothing(void) {}

static u64 is_on(u64 harts) { return harts >> hart() & 1; }

// Waits for all others without leaving its hart.
static void meets(u64 others) {
  __atomic_fetch_add(&arrived, 1, __ATOMIC_SEQ_CST);
  while (arrived < others)
    ;
  __atomic_fetch_or(&harts_of, 1ul << hart(), __ATOMIC_SEQ_CST);
  __atomic_fetch_add(&left, 1, __ATOMIC_SEQ_CST);
  while (left < others)
    ;
}
static void meets_with_vectors(u64 others) {
  vector();
  meets(others);
  call1(THREAD_EXIT, 0);
}
static void meets_and_spins(u64 others) {
  meets(others);
  while (!stop)
    ;
  call1(THREAD_EXIT, 0);
}
// How long an instruction takes that general harts lack.
static void is_guest(u64 unused) {
  (void)unused;
  u64 begun = now();
  vector();
  call1(THREAD_EXIT, (now() - begun) * 10 < slice && is_on(VECTOR));
}
static void waits_for_unit(u64 number) {
  unit();
  call1(THREAD_EXIT, is_on(UNIT) ? number : 0);
}

static u64 create(void (*begin)(u64), u64 argument, u64 number) {
  return call(THREAD_CREATE, (u64)begin, argument, (u64)stacks[number + 1], 0, 4, 0, 0);
}
static u64 join(u64 thread) {
  u64 value = 0;
  u64 status = call(THREAD_JOIN, thread, -1ul, 0, 0, 0, 0, &value);
  return status == 0 ? value : -1ul;
}

// So many threads run at once, on these harts, and none of them is preempted.
static u64 run_at_once(void (*begin)(u64), u64 threads, u64 harts) {
  u64 ids[16], begun = now();
  arrived = left = harts_of = 0;
  for (u64 n = 0; n < threads; n++)
    ids[n] = create(begin, threads, n);
  if (begin == meets_and_spins)
    return ids[0] != 0;
  for (u64 n = 0; n < threads; n++)
    join(ids[n]);
  return harts_of == harts && now() - begun < slice;
}

static u64 place(u64 harts) {
  return call(THREAD_PLACE, call1(THREAD_SELF, 0), harts, 0, 0, 0, 0, 0);
}

// From a general hart, or from harts of its own, an instruction leads to these.
static u64 moves(void (*instruction)(void), u64 from, u64 to) {
  place(from);
  u64 was_there = is_on(from);
  place(ALL);
  u64 stays = is_on(from);
  instruction();
  return was_there && stays && is_on(to);
}

// A child of the process may run on these harts alone, and ends by this signal.
static void placed(u64 harts) {
  place(harts);
  vector();
  call(PROCESS_END, 0, 1, 0, 0, 0, 0, 0);
}

void _start(struct program_start *start) {
  only_on_first_tile(start);
  u64 users = ALL & ~1, general = users & ~SPECIAL, count = 9, status;
  slice = start->frequency / 100;

  print("vectors: ", moves(vector, general, VECTOR), "\n");
  print("bit manipulation: ", moves(address, general, BITS), "\n");
  print("a custom unit: ", moves(unit, general, UNIT), "\n");
  print("no floating point: ", moves(real, SMALL, users & ~SMALL), "\n");
  print("from one special hart to another: ", moves(address, VECTOR, BITS), "\n");
  print("general code stays: ", moves(nothing, VECTOR, VECTOR), "\n");

  place(general), place(ALL), vector();
  u64 before = hart();
  for (int n = 0; n < 20; n++)
    call1(KERNEL_NOTHING, 0);
  volatile u64 *page = (u64 *)call(MEMORY_MAP, 0, 4096, 3, 0, 0, 0, 0);
  *page = 1;
  print("kernel calls and page faults do not move: ", hart() == before, "\n");

  print("a hint before vectors: ", call1(HINT, VECTORS) == 0 && is_on(VECTOR), "\n");
  print("a hint before a unit: ", call1(HINT, CUSTOM) == 0 && is_on(UNIT), "\n");
  print("a hint behind them: ", call1(HINT, 0) == 0 && is_on(general), "\n");
  print("a hint for what no hart has: ", -call1(HINT, VECTORS | CUSTOM) == NOT_FOUND, "\n");

  print("several harts of a class at once: ", run_at_once(meets_with_vectors, 3, VECTOR), "\n");

  // The caller waits meanwhile, so all harts are theirs.
  stop = 0;
  u64 first = run_at_once(meets_and_spins, count, users);
  u64 begun = now();
  while (left < count && now() - begun < 100 * slice)
    call1(THREAD_SLEEP, now() + slice / 10);
  print("general threads on all harts: ", first && harts_of == users, "\n");
  u64 guest = create(is_guest, 0, 20);
  print("a guest gives way at once: ", join(guest), "\n");
  stop = 1;

  // Each of them needs the one hart with a unit. None is lost, and each has waited.
  u64 lost = 0, ids[MOST];
  for (u64 n = 0; n < MOST - 30; n++)
    ids[n] = create(waits_for_unit, n, 25 + n);
  for (u64 n = 0; n < MOST - 30; n++)
    lost += is_error(ids[n]) || join(ids[n]) != n;
  print("threads for one hart: ", MOST - 30, ", ");
  print("lost ", lost, "\n");

  u64 child = call(PROCESS_COPY, 0, 0, 0, 0, 0, 0, 0);
  call(PROCESS_START, child, (u64)placed, (u64)stacks[MOST - 1], general, 0, 0, 0);
  call(PROCESS_WAIT, child, -1ul, 0, 0, 0, 0, &status);
  print("placed on general harts: ", status, "\n");
  call(PROCESS_END, 0, 0, 0, 0, 0, 0, 0);
}
