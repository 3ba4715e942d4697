// Threads: more than harts, joined, detached, used again; sleep and wake-up; waits at an address;
// harts and priorities; errors of each call.
#include "bare_card.h"

enum {
  THREAD_SELF = 0,
  THREAD_DETACH = 19,
  THREAD_WAKEUP = 22,
  THREAD_WAIT_ON = 23,
  THREAD_WAKE_ON = 24,
  THREAD_PLACE = 25,
  THREAD_PRIORITY = 26,
};

#define MOST 60
static char stacks[MOST][1024] __attribute__((aligned(16)));
static u64 ids[MOST];
static volatile unsigned turn, lock, shared;
static volatile u64 order;

static u64 error_of(u64 value) { return is_error(value) ? -value : 0; }

static u64 start_thread(void (*entry)(u64), u64 argument, u64 place, u64 priority) {
  u64 id = call(THREAD_CREATE, (u64)entry, argument, (u64)stacks[place] + 1024, 0, priority, 0, 0);
  if (is_error(id))
    print("no thread: ", -id, "\n");
  return id;
}

static u64 join(u64 id) {
  u64 value = 0;
  u64 error = call(THREAD_JOIN, id, -1ul, 0, 0, 0, 0, &value);
  if (error)
    print("no join: ", -error, "\n");
  return value;
}

static void squares(u64 n) {
  double x = n;
  for (int i = 0; i < 50; i++)
    x = x * 1.5 / 1.5;
  call1(THREAD_EXIT, (u64)(x * x));
}

// An atomic operation sees what other harts have stored, without coherence, too.
static unsigned fresh(volatile unsigned *word) {
  return __atomic_fetch_or(word, 0, __ATOMIC_ACQUIRE);
}

// A mutex as a C library has it: 0 free, 1 taken, 2 taken and waited for.
static void take(volatile unsigned *word) {
  unsigned expected = 0;
  if (__atomic_compare_exchange_n(word, &expected, 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
    return;
  while (__atomic_exchange_n(word, 2, __ATOMIC_ACQUIRE))
    call(THREAD_WAIT_ON, (u64)word, 2, -1ul, 0, 0, 0, 0);
}

static void give(volatile unsigned *word) {
  if (__atomic_exchange_n(word, 0, __ATOMIC_RELEASE) == 2)
    call(THREAD_WAKE_ON, (u64)word, 1, 0, 0, 0, 0, 0);
}

static void adds(u64 n) {
  (void)n;
  for (int i = 0; i < 40; i++) {
    take(&lock);
    __atomic_store_n(&shared, fresh(&shared) + 1, __ATOMIC_RELAXED);
    give(&lock);
  }
  call1(THREAD_EXIT, 0);
}

// A ring: thread n waits for turn n, and gives it on.
static void ring(u64 n) {
  unsigned seen;
  while ((seen = fresh(&turn)) != n)
    call(THREAD_WAIT_ON, (u64)&turn, seen, -1ul, 0, 0, 0, 0);
  __atomic_store_n(&turn, n + 1, __ATOMIC_RELEASE);
  call(THREAD_WAKE_ON, (u64)&turn, -1ul, 0, 0, 0, 0, 0);
  call1(THREAD_EXIT, n);
}

static void sleeper(u64 n) {
  u64 got = call1(THREAD_SLEEP, -1ul);
  call1(THREAD_EXIT, got + n);
}

static void notes(u64 n) {
  u64 before = __atomic_load_n(&order, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(&order, &before, before * 10 + n, 0, __ATOMIC_RELAXED,
                                      __ATOMIC_RELAXED))
    ;
  call1(THREAD_EXIT, hart());
}

static void spins(u64 until) {
  while (now() < until)
    ;
  call1(THREAD_EXIT, 0);
}

void _start(struct program_start *start) {
  only_on_first_tile(start);
  u64 total = 0;
  for (int round = 0; round < 3; round++) {
    for (u64 n = 0; n < MOST; n++)
      ids[n] = start_thread(squares, n, n, 4);
    for (u64 n = 0; n < MOST; n++)
      total += join(ids[n]);
  }
  print("squares ", total, "\n");
  print("used once: ", error_of(call(THREAD_JOIN, ids[0], -1ul, 0, 0, 0, 0, 0)), "\n");

  for (u64 n = 0; n < 20; n++)
    ids[n] = start_thread(adds, n, n, 4);
  for (u64 n = 0; n < 20; n++)
    join(ids[n]);
  print("adds ", __atomic_fetch_add(&shared, 0, __ATOMIC_SEQ_CST), "\n");

  for (u64 n = 0; n < MOST; n++)
    ids[n] = start_thread(ring, MOST - 1 - n, n, 4);
  total = 0;
  for (u64 n = 0; n < MOST; n++)
    total += join(ids[n]);
  print("ring ", total, "\n");

  // A wake-up before the sleep is not lost, and one behind it is not, either.
  ids[0] = start_thread(sleeper, 5, 0, 4);
  call1(THREAD_SLEEP, now() + start->frequency / 1000);
  print("wake-up ", error_of(call1(THREAD_WAKEUP, ids[0])), "\n");
  print("sleeper ", join(ids[0]), "\n");
  u64 self = call1(THREAD_SELF, 0);
  call1(THREAD_WAKEUP, self);
  print("woken before ", error_of(call1(THREAD_SLEEP, -1ul)), "\n");
  u64 begin = now();
  print("in time ", error_of(call1(THREAD_SLEEP, begin + 500)), "\n");
  print("not early ", now() >= begin + 500, "\n");

  // One hart for all: the more urgent threads run first, whoever came first.
  u64 here = hart();
  call(THREAD_PLACE, self, 1ul << here, 0, 0, 0, 0, 0);
  call(THREAD_PRIORITY, self, 0, 0, 0, 0, 0, 0);
  for (u64 n = 1; n <= 6; n++) {
    ids[n] = start_thread(sleeper, 0, n, 4);
    call(THREAD_PLACE, ids[n], 1ul << here, 0, 0, 0, 0, 0);
  }
  for (u64 n = 1; n <= 6; n++) {
    call(THREAD_WAKEUP, ids[n], 0, 0, 0, 0, 0, 0);
    join(ids[n]);
  }
  u64 first = start_thread(spins, now() + start->frequency / 100, 0, 0);
  call(THREAD_PLACE, first, 1ul << here, 0, 0, 0, 0, 0);
  call(THREAD_PRIORITY, self, 7, 0, 0, 0, 0, 0);
  join(first);
  print("priority before ", call(THREAD_PRIORITY, self, 4, 0, 0, 0, 0, 0), "\n");
  call(THREAD_PLACE, self, -1ul, 0, 0, 0, 0, 0);
  u64 moved = start_thread(notes, 1, 1, 4);
  join(moved);

  // Detached threads free their places by themselves.
  for (int n = 0; n < 600; n++) {
    u64 id;
    while (is_error(
        id = call(THREAD_CREATE, (u64)squares, 3, (u64)stacks[n % MOST] + 1024, 0, 4, 0, 0)))
      call1(THREAD_YIELD, 0);
    call1(THREAD_DETACH, id);
    call1(THREAD_SLEEP, now() + start->frequency / 20000);
  }
  print("a stack that is not aligned: ",
        error_of(call(THREAD_CREATE, (u64)squares, 0, (u64)stacks[0] + 1020, 0, 4, 0, 0)), "\n");
  print("a priority too many: ",
        error_of(call(THREAD_CREATE, (u64)squares, 0, (u64)stacks[0] + 1024, 0, 8, 0, 0)), "\n");
  print("itself: ", error_of(call(THREAD_JOIN, self, -1ul, 0, 0, 0, 0, 0)), "\n");
  print("no hart: ", error_of(call(THREAD_PLACE, self, 0, 0, 0, 0, 0, 0)), "\n");
  print("another value: ", error_of(call(THREAD_WAIT_ON, (u64)&turn, 999, -1ul, 0, 0, 0, 0)), "\n");
  print("a wild address: ", error_of(call(THREAD_WAIT_ON, 0x80000000, 0, -1ul, 0, 0, 0, 0)), "\n");
  print("no such call: ", error_of(call1(15, 0)), "\n");
  call1(THREAD_EXIT, 0);
}
