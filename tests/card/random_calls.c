// Random kernel calls: any number, any argument, any order, by several threads of several processes
// at once. The kernel must neither fail nor lose memory, and nobody may gain a right: a process
// beside them (witness.h) and the parent hold patterns that must not change. Arguments: the first
// seed, and how many calls in all.
#include "random_rounds.h"

enum {
  THREAD_DETACH = 19,
  THREAD_WAKEUP = 22,
  THREAD_WAKE_ON = 24,
  THREAD_STATE = 27,
  EXCEPTION_RESUME = 29,
  CONSOLE_READ = 57,
  MAILBOX_CLOSE = 65,
  PORTAL_WRITE = 68,
  PORTAL_CLOSE = 70,
  PORTAL_READ = 72,
};

// Processes with random calls that run at once, calls of each, and the stacks of its threads.
enum { AT_ONCE = 2, CALLS = 4000, STACKS = 32, STACK = 1024 };
#define USER_END (1ul << 38)

static u64 calls_left, stacks_used, recent[16], tile;
static char stacks[STACKS + AT_ONCE][STACK] __attribute__((aligned(4096)));
static char scratch[8192] __attribute__((aligned(4096)));
static volatile u64 own[64];

// Calls that do not end whoever makes them.
static const unsigned char usual[] = {0,  1,  2,  16, 16, 18, 19, 20, 21, 22, 23, 24, 25, 26,
                                      27, 28, 29, 32, 33, 34, 35, 40, 41, 42, 43, 44, 46, 56,
                                      57, 58, 59, 64, 65, 66, 67, 68, 69, 70, 71, 72};

static void fuzz(u64 seed);

// An address near a limit.
static u64 edge(u64 value) {
  static const u64 limits[] = {0,
                               USER_END,
                               1ul << 39,
                               1ul << 47,
                               1ul << 63,
                               WITNESS_AT - 4096,
                               0x80000000,
                               (u64)scratch,
                               (u64)scratch + 4096,
                               (u64)scratch + 8192};
  return limits[value % 10] + (value >> 8) % 257 - 128;
}

static u64 argument(u64 *state) {
  u64 kind = next(state) % 24, value = next(state);
  switch (kind) {
  case 0:
    return 0;
  case 1:
    return value % 16;
  case 2:
    return -(value % 8);
  case 3:
    return value;
  case 4:
    return (u64)scratch + value % sizeof scratch;
  case 5:
    return (u64)scratch + (value % sizeof scratch & ~7ul);
  case 6:
    return (u64)fuzz;
  case 7:
    return (u64)stacks[value % STACKS] + STACK;
  case 8:
    return value % 300 | (value >> 20) % 4 << 16;
  case 9:
    return 0x1000000000 + (value % 64 << 12);
  case 10:
    return value % 64 << 12;
  case 11:
    return now() + value % 500;
  case 12:
    return 1ul << value % 64;
  case 13:
    return (value % 32) | (value >> 20) % 4 << 16;
  case 14:
    return 0x80000000 + value % (1 << 20);
  case 15:
  case 16:
    return edge(value);
  // Of others: threads, the process, the parent, the first process; ports.
  case 17:
    return see(&witness->told[value % WITNESSES].thread);
  case 18:
    return value % 2 ? see(&witness->process) : 0x10000;
  case 19:
    return value % 2 ? WITNESS_PORT : WITNESS_PORTAL;
  case 20:
    return tile << 32 | see(&witness->process);
  case 21:
  case 22:
    return __atomic_fetch_or(&recent[value % 16], 0, __ATOMIC_RELAXED);
  default:
    return value % 4096;
  }
}

// What calls expect as arguments, by their numbers, so that some of them succeed: F a thread's
// entry, K its stack, T a thread, P a child, A memory, W a word of it, G a page, g or 0, S bytes of
// pages, R rights, U a time, H harts, t the tile, o a port, p up to 7, b up to 15; others are
// anything.
static const char *const shapes[] = {
    [16] = "F?K?p", [18] = "TU",  [19] = "T",   [21] = "U",     [22] = "T",    [23] = "W0U",
    [24] = "Wb",    [25] = "TH",  [26] = "Tp",  [27] = "TA",    [28] = "AU",   [29] = "T",
    [32] = "gSR",   [33] = "GS",  [34] = "GSR", [42] = "PgGSb", [43] = "PFK",  [44] = "PU",
    [45] = "P",     [57] = "AbU", [64] = "o",   [65] = "o",     [66] = "toAU", [67] = "oAU",
    [68] = "toASU", [69] = "o",   [70] = "o",   [71] = "o0AS",  [72] = "oU",
};

static u64 expected(char shape, u64 *state) {
  u64 value = next(state) >> 8;
  switch (shape) {
  case 'F':
    return (u64)fuzz;
  case 'K':
    return (u64)stacks[__atomic_fetch_add(&stacks_used, 1, __ATOMIC_RELAXED) % STACKS] + STACK;
  case 'T':
  case 'P':
    return __atomic_fetch_or(&recent[value % 8 + (shape == 'P' ? 8 : 0)], 0, __ATOMIC_RELAXED);
  case 'A':
    return (u64)scratch + (value % sizeof scratch & ~7ul);
  case 'W':
    return (u64)scratch + value % 4 * 4;
  case 'G':
  case 'g':
    return shape == 'g' && value & 1 << 20 ? 0 : 0x1000000000 + (value % 64 << 12);
  case 'S':
    return 1 + value % 16384;
  case 'R':
    return 1 + value % 7;
  case 'U':
    return now() + value % 500;
  case 'H':
    return value % 65536;
  case 't':
    return tile;
  case 'o':
    return value % 8;
  case 'p':
    return value % 8;
  case 'b':
    return value % 16;
  case '0':
    return 0;
  default:
    return argument(state);
  }
}

// Fills arguments: random ones, or some of them as the call expects them.
static void choose(u64 number, u64 *a, u64 *state) {
  const char *shape =
      next(state) % 4 && number < sizeof shapes / sizeof *shapes ? shapes[number] : 0;
  for (int n = 0; n < 6; n++) {
    a[n] = shape && *shape && next(state) % 16 ? expected(*shape, state) : argument(state);
    shape += shape && *shape;
  }
}

static int is_witness_thread(u64 number) {
  for (int who = 0; who < WITNESSES; who++)
    if (number == see(&witness->told[who].thread))
      return 1;
  return 0;
}

// A call that has succeeded: did it concern what the process has no right to?
static int is_gain(u64 number, const u64 *a) {
  switch (number) {
  case THREAD_JOIN:
  case THREAD_DETACH:
  case THREAD_WAKEUP:
  case THREAD_PLACE:
  case THREAD_PRIORITY:
  case THREAD_STATE:
  case EXCEPTION_RESUME:
    return is_witness_thread(a[0]);
  case PROCESS_MAP:
  case PROCESS_START:
  case PROCESS_WAIT:
  case PROCESS_END:
    return a[0] != 0 && a[0] == see(&witness->process);
  case MAILBOX_CLOSE:
  case MAILBOX_RECEIVE:
    return a[0] == WITNESS_PORT;
  case PORTAL_CLOSE:
  case PORTAL_ALLOW:
  case PORTAL_READ:
    return a[0] == WITNESS_PORTAL;
  case PORTAL_WRITE:
    return a[0] == tile && a[1] == WITNESS_PORTAL;
  default:
    return 0;
  }
}

// Pages that the kernel has given: zero, and nobody else's.
static int is_foreign(u64 at, u64 size) {
  // The first ones are arguments of others, too.
  if (at < 0x1000040000 || at >= USER_END)
    return 0;
  for (u64 n = 0; n < size && n < 4 * 4096; n += 8)
    if (*(volatile u64 *)(at + n) != 0)
      return 1;
  return 0;
}

static void gained(u64 number) { call(PROCESS_END, 0, GAINED | number << 8, 0, 0, 0, 0, 0); }

static void fuzz(u64 seed) {
  u64 state = seed * 2654435761 + 88172645463325252 + hart();
  while (__atomic_sub_fetch(&calls_left, 1, __ATOMIC_RELAXED) < 1ul << 40) {
    u64 what = next(&state), number = usual[what % sizeof usual];
    if (what % 512 == 1)
      number = what >> 32 & 1 ? THREAD_EXIT : PROCESS_END;
    if (what % 512 == 2)
      number = what >> 40;
    if (what % 512 == 3)
      number = what >> 56;
    u64 a[6];
    choose(number, a, &state);
    // Nothing is printed that can be printed.
    if (number == CONSOLE_WRITE && a[0] < USER_END)
      a[1] = 0;
    // A load of the process's own, which may be an exception.
    if (what % 256 == 4 && is_secret(*(volatile u64 *)(a[0] & ~7ul)))
      gained(255);
    u64 second, result = call(number, a[0], a[1], a[2], a[3], a[4], a[5], &second);
    __atomic_fetch_add(counts, 1, __ATOMIC_RELAXED);
    if (is_error(result))
      continue;
    if (is_gain(number, a) || (number == CONSOLE_WRITE && result != 0))
      gained(number);
    if (number == MEMORY_MAP && a[0] == 0 && a[2] & 1 && is_foreign(result, a[1]))
      gained(number);
    // Threads are in the first half.
    if (number == THREAD_CREATE || number == THREAD_SELF)
      __atomic_exchange_n(&recent[what >> 32 & 7], result, __ATOMIC_RELAXED);
    if (number == PROCESS_CREATE || number == PROCESS_COPY)
      __atomic_exchange_n(&recent[8 + (what >> 32 & 7)], result, __ATOMIC_RELAXED);
  }
  call1(THREAD_EXIT, 3);
}

static void begin(u64 seed) {
  only_see_witness();
  call(THREAD_PRIORITY, call1(THREAD_SELF, 0), 0, 0, 0, 0, 0, 0);
  fuzz(seed);
}

static void sleeper(void) {
  call1(THREAD_SLEEP, -1ul);
  call1(THREAD_EXIT, 0);
}

// The kernel keeps the memory of registers of threads, and of its table of ports: all of it is
// taken.
static void take_what_stays(void) {
  u64 threads[256], count = 0;
  while (count < 256) {
    u64 thread = call(THREAD_CREATE, (u64)sleeper, 0, (u64)stacks[0] + STACK, 0, 7, 0, 0);
    if (is_error(thread))
      break;
    threads[count++] = thread;
  }
  while (count--) {
    call1(THREAD_WAKEUP, threads[count]);
    call(THREAD_JOIN, threads[count], -1ul, 0, 0, 0, 0, 0);
  }
  for (u64 port = 0; port < 2048; port += 64) {
    for (u64 kind = MAILBOX_CREATE; kind <= PORTAL_CREATE; kind += PORTAL_CREATE - MAILBOX_CREATE)
      if (!is_error(call1(kind, port)))
        call1(kind + 1, port);
  }
}

// What the parent holds is as it was.
static void look(u64 seed, u64 status) {
  if ((status & -65536ul) == GAINED)
    failed("a right was gained: ", seed, status & 0xffff);
  for (int n = 0; n < 64; n++)
    if (own[n] != n * 7ul)
      failed("memory has changed: ", seed, n);
  if (witness_failures())
    failed("the witness has found ", seed, witness_failures());
}

static u64 begin_child(u64 seed, u64 stack) {
  u64 child = call1(PROCESS_COPY, 0);
  if (is_error(child))
    failed("no process: ", seed, -child);
  call(PROCESS_START, child, (u64)begin, (u64)stacks[STACKS + stack] + STACK, seed, 0, 0, 0);
  return child;
}

// Another tile's messages for the witness, and for mailboxes that there may be.
static void flood(void) {
  static u64 message[15];
  for (u64 n = 0;; n++)
    call(MAILBOX_SEND, 0, n % 2 ? WITNESS_PORT : n / 2 % 8, (u64)message, now() + 100, 0, 0, 0);
}

void _start(struct program_start *start) {
  if (start->tile == 1)
    flood();
  only_on_first_tile(start);
  const char *words = (const char *)start->text;
  words += length(words) + 1;
  u64 seed = word_at(&words, 1, start), wanted = word_at(&words, 20000, start);
  witness_harts = word_at(&words, -1ul, start);
  for (int n = 0; n < 64; n++)
    own[n] = n * 7;
  tile = start->tile;
  call(MEMORY_MAP, COUNTS_AT, COUNTS_SIZE, 3, 0, 0, 0, 0);
  call(THREAD_PRIORITY, call1(THREAD_SELF, 0), 0, 0, 0, 0, 0, 0);
  call(THREAD_PLACE, call1(THREAD_SELF, 0), witness_harts, 0, 0, 0, 0, 0);
  take_what_stays();
  for (u64 n = 0; n < sizeof stacks; n += STACK)
    ((char *)stacks)[n] = 0;
  start_witness(start->tile, start->frequency);
  u64 sharer = call1(PROCESS_CREATE, 0), status;
  call(PROCESS_MAP, sharer, COUNTS_AT, COUNTS_AT, COUNTS_SIZE, 3 | 8, 0, 0);
  call(PROCESS_END, sharer, 0, 0, 0, 0, 0, 0);
  call(PROCESS_WAIT, sharer, -1ul, 0, 0, 0, 0, &status);
  call(THREAD_CREATE, (u64)watch, start->frequency, COUNTS_AT + COUNTS_SIZE, 0, 0, 0, 0);
  while (load(counts) < wanted) {
    calls_left = CALLS;
    u64 children[AT_ONCE];
    for (u64 n = 0; n < AT_ONCE; n++)
      children[n] = begin_child(seed + n, n);
    for (u64 n = 0; n < AT_ONCE; n++)
      look(seed + n, end_child(children[n], start->frequency / 500));
    look_at_pages(seed, start->frequency);
    seed += AT_ONCE;
    store(&parent_rounds, load(&parent_rounds) + 1);
  }
  stop_witness();
  look(seed, 0);
  print("", wanted, " calls\n");
  call1(PROCESS_END, 0);
}
