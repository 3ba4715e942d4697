// Random calls of the root's kernel (docs/root.md) by several threads of several processes at once.
// Nobody may gain a right: the parent holds memory of tiles, an accelerator, a gate and
// capabilities beside the children (and witness.h what the other calls concern). Memory that is
// taken is 0, and stays so while nobody else has it. What was revoked is of no use. When all
// children have ended, everything is free again. Arguments: the first seed, and how many calls in
// all.
#include "../random_rounds.h"

enum {
  TILE_FIND = 80,
  TILE_MEMORY,
  CAPABILITY_NARROW,
  CAPABILITY_GIVE,
  CAPABILITY_REVOKE,
  TILE_LOAD,
  TILE_STORE,
  GATE_CREATE,
  GATE_SENDER,
  GATE_RECEIVE,
  GATE_ANSWER,
  GATE_CALL,
  ACTIVITY_CREATE,
  ACTIVITY_ENDPOINT,
  ACTIVITY_GATE,
  ACTIVITY_MEMORY,
  ACTIVITY_START,
  ACTIVITY_WAIT,
  ACTIVITY_MOVE = 113,
  GROUP_CREATE,
  GROUP_JOIN,
};
// Calls that are made at random: those from number 80 on, and those from 113 on.
enum { FIRST_CALLS = 18, CALLS_MADE = FIRST_CALLS + 3 };
enum { READ = 1, WRITE = 2 };

// Processes with random calls that run at once, threads and calls of each, and bytes of a stack.
enum { AT_ONCE = 3, THREADS = 3, CALLS = 1000, STACK = 4096, PAGE = 4096 };
// Tiles of memory, and accelerators: tests/card/random/root.toml. The last one is the parent's.
enum { MEMORIES = 2, ACCELERATORS = 4, MOST = 64 };

// What the parent holds in each tile of memory, and what it has given: words of others' memory.
enum { HELD_BYTES = 2 * PAGE, HELD_BEHIND = 12 * PAGE, GIVEN_LABEL = 0x77 };

struct shared {
  // Capabilities of the parent, and those that it has given to the children.
  u64 held[8], given[AT_ONCE][2];
  // What was given is of no use any more.
  u64 is_revoked;
  // For counts of what is free.
  u64 stops, taken[8];
  // How often each call has succeeded.
  u64 succeeded[CALLS_MADE];
};
#define shared ((struct shared *)(COUNTS_AT + 4096))

static u64 calls_left, memories[MEMORIES], accelerators[ACCELERATORS], child_number;
// Capabilities of the process by their kinds: memory, gates, senders, activities, gates of
// activities, groups.
enum { KINDS = 6, OF_KIND = 8 };
static u64 recent[KINDS][OF_KIND], processes[4];
static char stacks[AT_ONCE][THREADS][STACK] __attribute__((aligned(4096)));
static char scratch[2 * PAGE] __attribute__((aligned(4096)));
// What is stored, and is not 0.
static u64 dirt[PAGE / 8];
static const char names[][8] = {"", "fft", "mul", "ifft", "sha256", "nothing"};

static u64 any_of(u64 *places, u64 count, u64 value) {
  return __atomic_load_n(&places[value % count], __ATOMIC_RELAXED);
}

// An argument that nothing says of what kind it is.
static u64 argument(u64 *state) {
  u64 kind = next(state) % 16, value = next(state) >> 8;
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
    return (u64)scratch + (value % sizeof scratch & ~7ul);
  case 5:
    return 1ul << value % 64;
  case 6:
    return now() + value % 500;
  case 7:
    return see(&shared->held[value % 8]);
  case 8:
    return see(&shared->given[value % AT_ONCE][value >> 8 & 1]);
  case 9:
    return value % 8192 | (value >> 20) % 4 << 16;
  case 10:
    return value % 20 * 8;
  case 11:
    return ((u64)scratch + sizeof scratch) - value % 16;
  default:
    return any_of(recent[value % KINDS], OF_KIND, value >> 8);
  }
}

// What calls expect, from number 80 on: N a name, n its length, t a tile of memory, a an
// accelerator, f a tile, z bytes of memory, o an offset, s and x bytes of a copy, D what is stored,
// R rights, c any capability, m memory, g a gate, G a gate of either kind, S a sender, v an
// activity, q a group, e an endpoint, w what it is set up by, p a process, l a label, k credits, A
// scratch, L a slot, b bytes of a message, i where input comes from, U a time.
static const char *const shapes[] = {"Nnf", "tz",  "mozR", "cp",   "c",     "moAs", "moDx",
                                     "",    "Glk", "gAU",  "gLAb", "SAbAU", "a",    "vew",
                                     "v",   "v",   "vi",   "vU",   "vi",    "",     "qv"};

static u64 number_of(u64 n) {
  return n < FIRST_CALLS ? TILE_FIND + n : ACTIVITY_MOVE + n - FIRST_CALLS;
}

static u64 expected(char shape, u64 *state) {
  u64 value = next(state) >> 8;
  switch (shape) {
  case 'N':
    return (u64)names[value % 6];
  case 'n':
    return value % 7;
  case 't':
    return memories[value % MEMORIES];
  case 'a':
    return accelerators[value % ACCELERATORS];
  case 'f':
    return value % 8;
  case 'z':
    return 1 + (value & 1 << 20 ? value % PAGE : value % (8 * PAGE));
  case 'o':
    return value % (value & 1 << 20 ? PAGE : 8 * PAGE) & ~7ul;
  case 's':
    return value % 256;
  case 'D':
    return (u64)dirt;
  case 'x':
    return value % (PAGE + 1);
  case 'R':
    return 1 + value % 3;
  case 'c':
    return any_of(recent[value % KINDS], OF_KIND, value >> 8);
  case 'm':
    return value >> 20 & 7 ? any_of(recent[0], OF_KIND, value)
                           : see(&shared->given[child_number][0]);
  case 'g':
    return any_of(recent[1], OF_KIND, value);
  case 'G':
    return any_of(recent[value >> 20 & 1 ? 4 : 1], OF_KIND, value);
  case 'S':
    return value >> 20 & 7 ? any_of(recent[2], OF_KIND, value)
                           : see(&shared->given[child_number][1]);
  case 'v':
    return any_of(recent[3], OF_KIND, value);
  case 'q':
    return any_of(recent[5], OF_KIND, value);
  case 'e':
    return 4 + value % 4;
  case 'w':
    return any_of(recent[value >> 20 & 1 ? 2 : 0], OF_KIND, value);
  case 'p':
    return any_of(processes, 4, value);
  case 'l':
    return value % 4;
  case 'k':
    return 1 + value % 16;
  case 'A':
    return (u64)scratch + (value % PAGE & ~7ul);
  case 'L':
    return value % 16;
  case 'b':
    return value % 16 * 8;
  case 'i':
    return value % 2;
  case 'U':
    return now() + value % 100;
  default:
    return argument(state);
  }
}

static void gained(u64 number, u64 how) {
  call(PROCESS_END, 0, GAINED | how << 8 | number, 0, 0, 0, 0, 0);
}

// Does the call take a capability as its first argument?
static int takes_capability(u64 number) {
  return number != TILE_FIND && number != TILE_MEMORY && number != GATE_CREATE &&
         number != ACTIVITY_CREATE && number != GROUP_CREATE;
}

// A call that has succeeded: did it concern what the process has no right to?
static void look_for_gain(u64 number, const u64 *a, u64 was_revoked) {
  u64 by = number == ACTIVITY_ENDPOINT ? a[2] : a[0];
  for (int n = 0; n < 8 && takes_capability(number); n++) {
    u64 held = see(&shared->held[n]);
    if (held != 0 && (a[0] == held || by == held))
      gained(number, 2);
  }
  for (int n = 0; n < 2 && takes_capability(number); n++) {
    u64 given = see(&shared->given[child_number][n]);
    if (given == 0 || (a[0] != given && by != given))
      continue;
    // The parent takes it away once in a round, and number and owner are no others' meanwhile.
    if (was_revoked)
      gained(number, 3);
    if (n == 0 && (number == TILE_STORE || (number == CAPABILITY_NARROW && a[3] & WRITE)))
      gained(number, 4);
  }
}

// Memory that nobody else has is 0. A capability that was revoked by another thread is no answer.
static void look_at_zeros(u64 capability, u64 size, u64 number) {
  u64 words[128];
  for (u64 offset = 0; offset < size; offset += sizeof words) {
    u64 bytes = size - offset < sizeof words ? (size - offset) & ~7ul : sizeof words;
    if (call(TILE_LOAD, capability, offset, (u64)words, bytes, 0, 0, 0) != 0)
      return;
    for (u64 n = 0; n < bytes / 8; n++)
      if (words[n] != 0)
        gained(number, is_secret(words[n]) ? 5 : 6);
  }
}

// What was loaded is the process's own, or was given to it.
static void look_at_loaded(const u64 *a) {
  for (u64 at = a[2]; at < a[2] + a[3]; at += 8)
    if (at >= (u64)scratch && at + 8 <= (u64)scratch + sizeof scratch && at % 8 == 0 &&
        is_secret(*(volatile u64 *)at))
      gained(TILE_LOAD, 7);
}

static void keep(u64 kind, u64 at, u64 number) {
  __atomic_store_n(&recent[kind][at % OF_KIND], number, __ATOMIC_RELAXED);
}

// A stream that runs, and from which something is taken away at any moment. The rest of it is for
// random calls.
static void stream(u64 *state) {
  u64 activity = call1(ACTIVITY_CREATE, accelerators[next(state) % (ACCELERATORS - 1)]);
  u64 memory = memories[next(state) % MEMORIES], gate = call1(GATE_CREATE, 0);
  u64 from = call(TILE_MEMORY, memory, PAGE, 0, 0, 0, 0, 0);
  u64 to = call(TILE_MEMORY, memory, PAGE, 0, 0, 0, 0, 0);
  u64 reads = call(GATE_SENDER, gate, 1, 1, 0, 0, 0, 0);
  u64 writes = call(GATE_SENDER, gate, 2, 1, 0, 0, 0, 0);
  call(TILE_STORE, from, 0, (u64)dirt, PAGE, 0, 0, 0);
  const u64 by[] = {reads, from, writes, to};
  for (u64 n = 0; n < 4; n++)
    call(ACTIVITY_ENDPOINT, activity, 4 + n, by[n], 0, 0, 0, 0);
  u64 answers = next(state) % 6, request[15], answer[3] = {0, 0, PAGE};
  call(ACTIVITY_START, activity, 0, 0, 0, 0, 0, 0);
  for (u64 n = 0; n < answers; n++) {
    u64 taken = call(GATE_RECEIVE, gate, (u64)request, now() + 200, 0, 0, 0, 0);
    if (is_error(taken))
      break;
    call(GATE_ANSWER, gate, taken & 255, (u64)answer, sizeof answer, 0, 0, 0);
  }
  call1(CAPABILITY_REVOKE, next(state) % 4 ? to : next(state) % 2 ? from : gate);
  keep(0, next(state), from);
  keep(1, next(state), gate);
  keep(2, next(state), writes);
  if (next(state) % 2)
    call1(CAPABILITY_REVOKE, activity);
  else
    keep(3, next(state), activity);
  __atomic_fetch_add(counts, 16, __ATOMIC_RELAXED);
}

static void fuzz(u64 seed) {
  u64 state = seed * 2654435761 + 88172645463325252, quiet = 0, quiet_size = 0;
  while (__atomic_sub_fetch(&calls_left, 1, __ATOMIC_RELAXED) < 1ul << 40) {
    u64 what = next(&state), rare = what % 64;
    u64 which = rare < CALLS_MADE - FIRST_CALLS ? FIRST_CALLS + rare : (what >> 6) % FIRST_CALLS;
    u64 number = number_of(which);
    u64 a[6], second, was_revoked = see(&shared->is_revoked);
    const char *shape = next(&state) % 8 ? shapes[which] : "";
    for (int n = 0; n < 6; n++) {
      a[n] = *shape && next(&state) % 32 ? expected(*shape, &state) : argument(&state);
      shape += *shape != 0;
    }
    if ((what >> 32) % 8 && number == CAPABILITY_REVOKE)
      continue;
    if ((what >> 24) % 64 == 0)
      stream(&state);
    u64 result = call(number, a[0], a[1], a[2], a[3], a[4], a[5], &second);
    __atomic_fetch_add(counts, 1, __ATOMIC_RELAXED);
    if (is_error(result))
      continue;
    __atomic_fetch_add(&shared->succeeded[which], 1, __ATOMIC_RELAXED);
    look_for_gain(number, a, was_revoked);
    if (number == TILE_LOAD)
      look_at_loaded(a);
    // By chance alone few messages are answered.
    if (number == GATE_RECEIVE && what >> 36 & 1 &&
        !is_error(call(GATE_ANSWER, a[0], result & 0xff, (u64)scratch, 24, 0, 0, &second)))
      __atomic_fetch_add(&shared->succeeded[GATE_ANSWER - TILE_FIND], 1, __ATOMIC_RELAXED);
    if (number == TILE_MEMORY) {
      look_at_zeros(result, a[1], number);
      // Some of it stays as it is for a while.
      if (quiet == 0 && what >> 36 & 1) {
        quiet = result;
        quiet_size = a[1];
      } else {
        keep(0, what >> 40, result);
      }
    } else if (number == CAPABILITY_NARROW) {
      keep(0, what >> 40, result);
    } else if (number == GATE_CREATE) {
      keep(1, what >> 40, result);
    } else if (number == GATE_SENDER) {
      keep(2, what >> 40, result);
    } else if (number == ACTIVITY_CREATE) {
      u64 memory = call1(ACTIVITY_MEMORY, result);
      if (!is_error(memory)) {
        look_at_zeros(memory, PAGE, number);
        keep(0, what >> 44, memory);
      }
      keep(3, what >> 40, result);
    } else if (number == ACTIVITY_GATE) {
      keep(4, what >> 40, result);
    } else if (number == GROUP_CREATE) {
      keep(5, what >> 40, result);
    } else if (number == ACTIVITY_MEMORY) {
      keep(0, what >> 40, result);
    }
    if (quiet != 0 && (what >> 48) % 64 == 0) {
      look_at_zeros(quiet, quiet_size, 0);
      if ((what >> 54) % 4 == 0) {
        keep(0, what >> 40, quiet);
        quiet = 0;
      }
    }
  }
  call1(THREAD_EXIT, 3);
}

// The number of the child, and its seed.
static void begin(u64 argument) {
  u64 seed = argument / AT_ONCE;
  only_see_witness();
  child_number = argument % AT_ONCE;
  u64 parent;
  call(PROCESS_SELF, 0, 0, 0, 0, 0, 0, &parent);
  processes[0] = parent;
  processes[1] = see(&witness->process);
  for (u64 n = 0; n < PAGE / 8; n++)
    dirt[n] = (n + 1) * 0x0101010101010101;
  // A process without threads, which gets what others have.
  processes[2] = processes[3] = call1(PROCESS_COPY, 0);
  call(THREAD_PRIORITY, call1(THREAD_SELF, 0), 1, 0, 0, 0, 0, 0);
  for (u64 n = 1; n < THREADS; n++)
    call(THREAD_CREATE, (u64)fuzz, seed * THREADS + n, (u64)stacks[child_number][n] + STACK, 0, 1,
         0, 0);
  fuzz(seed * THREADS);
}

// A call of the parent's that has to succeed.
static u64 good(u64 number, u64 a, u64 b, u64 c, u64 d) {
  u64 result = call(number, a, b, c, d, 0, 0, 0);
  if (is_error(result))
    failed("a call of the parent fails: ", number, -result);
  return result;
}

static u64 held_words[HELD_BYTES / 8];

static void fill_held(void) {
  for (u64 n = 0; n < HELD_BYTES / 8; n++)
    held_words[n] = secret(n + 1);
}

// Words of others: the parent's memory in each tile, and in its accelerator.
static void take_held(void) {
  fill_held();
  for (int n = 0; n < MEMORIES; n++) {
    shared->held[n] = good(TILE_MEMORY, memories[n], HELD_BYTES, 0, 0);
    good(TILE_STORE, shared->held[n], 0, (u64)held_words, HELD_BYTES);
  }
  // And behind what the children take first.
  u64 before = good(TILE_MEMORY, memories[0], HELD_BEHIND, 0, 0);
  shared->held[6] = good(TILE_MEMORY, memories[0], HELD_BYTES, 0, 0);
  good(TILE_STORE, shared->held[6], 0, (u64)held_words, HELD_BYTES);
  good(CAPABILITY_REVOKE, before, 0, 0, 0);
  shared->held[7] = good(TILE_MEMORY, memories[1], PAGE, 0, 0);
  shared->held[2] = good(ACTIVITY_CREATE, accelerators[ACCELERATORS - 1], 0, 0, 0);
  shared->held[3] = good(ACTIVITY_MEMORY, shared->held[2], 0, 0, 0);
  good(TILE_STORE, shared->held[3], 0, (u64)held_words, PAGE);
  shared->held[4] = good(GATE_CREATE, 0, 0, 0, 0);
  shared->held[5] = good(GATE_SENDER, shared->held[4], 1, 1, 0);
}

// What the parent holds is as it was.
static void look(u64 seed, u64 status) {
  if ((status & -65536ul) == GAINED) {
    print("call ", status & 255, ": ");
    failed("a right was gained: ", seed, status >> 8 & 255);
  }
  static const unsigned char memory_of[] = {0, 1, 3, 6};
  for (int i = 0; i < 4; i++) {
    int n = memory_of[i];
    u64 bytes = n == 3 ? PAGE : HELD_BYTES;
    good(TILE_LOAD, shared->held[n], 0, (u64)held_words, bytes);
    for (u64 word = 0; word < bytes / 8; word++)
      if (held_words[word] != secret(word + 1))
        failed("memory of a tile has changed: ", seed, n << 16 | word);
  }
  u64 message[15], label, taken;
  while (!is_error(taken = call(GATE_RECEIVE, shared->held[4], (u64)message, 0, 0, 0, 0, &label))) {
    if (label != GIVEN_LABEL)
      failed("a message with another label: ", seed, label);
    call(GATE_ANSWER, shared->held[4], taken & 255, (u64)message, 8, 0, 0, 0);
  }
  if (witness_failures())
    failed("the witness has found ", seed, witness_failures());
}

// Each child gets some of the parent's memory, which it can load from, and can send to its gate.
static void give(u64 n, u64 child, u64 top, u64 sender) {
  shared->given[n][0] = good(CAPABILITY_GIVE, top, child, 0, 0);
  shared->given[n][1] = good(CAPABILITY_GIVE, sender, child, 0, 0);
}

static u64 begin_child(u64 seed, u64 n, u64 top, u64 sender) {
  u64 child = call1(PROCESS_COPY, 0);
  if (is_error(child))
    failed("no process: ", seed, -child);
  give(n, child, top, sender);
  call(PROCESS_START, child, (u64)begin, (u64)stacks[n][0] + STACK, seed * AT_ONCE + n, 0, 0, 0);
  return child;
}

// Takes all that there is of a kind, and says how much it was.
static u64 take_all(u64 number, u64 a, u64 b, u64 c, u64 d) {
  static u64 all[MOST];
  u64 got, count = 0;
  while (count < MOST && !is_error(got = call(number, a, b, c, d, 0, 0, 0)))
    all[count++] = got;
  for (u64 n = 0; n < count; n++)
    good(CAPABILITY_REVOKE, all[n], 0, 0, 0);
  return count;
}

// A process that takes as many capabilities as it may, and keeps them for a time.
static void take_places(u64 n) {
  u64 top = call(TILE_MEMORY, memories[0], PAGE, 0, 0, 0, 0, 0), count = !is_error(top);
  while (!is_error(call(CAPABILITY_NARROW, top, 0, PAGE, READ, 0, 0, 0)))
    count++;
  store(&shared->taken[n], count + 1);
  while (!load(&shared->stops))
    call1(THREAD_SLEEP, now() + 1000);
  call1(PROCESS_END, 0);
}

static u64 count_places(void) {
  u64 children[5], sum = 0, status;
  store(&shared->stops, 0);
  for (u64 n = 0; n < 5; n++) {
    shared->taken[n] = 0;
    children[n] = call1(PROCESS_COPY, 0);
    call(PROCESS_START, children[n], (u64)take_places, (u64)stacks[0][0] + STACK, n, 0, 0, 0);
    while (load(&shared->taken[n]) == 0)
      call1(THREAD_SLEEP, now() + 100);
    sum += shared->taken[n] - 1;
  }
  store(&shared->stops, 1);
  for (u64 n = 0; n < 5; n++)
    call(PROCESS_WAIT, children[n], -1ul, 0, 0, 0, 0, &status);
  return sum;
}

// All that the children had is free again.
static void look_at_all(u64 seed, u64 frequency, u64 looks_at_places) {
  static u64 before[MEMORIES + 2];
  u64 found[MEMORIES + 2] = {0};
  for (int n = 0; n < MEMORIES; n++)
    found[n] = take_all(TILE_MEMORY, memories[n], PAGE, 0, 0);
  found[MEMORIES] = take_all(GATE_CREATE, 0, 0, 0, 0);
  found[MEMORIES + 1] = before[MEMORIES + 1];
  if (looks_at_places)
    found[MEMORIES + 1] = count_places();
  for (int n = 0; n < MEMORIES + 2; n++) {
    if (before[n] == 0)
      before[n] = found[n];
    if (found[n] != before[n]) {
      print("", n, " of memories, gates, places: ");
      print("", found[n], " are free, and ");
      print("", before[n], " were, ");
      failed("something is lost or found: ", seed, n);
    }
  }
  // An accelerator is free when its module has come to its next step.
  for (int n = 0; n < ACCELERATORS - 1; n++) {
    u64 activity, tries = 0;
    while (is_error(activity = call1(ACTIVITY_CREATE, accelerators[n])) && tries++ < 1000)
      call1(THREAD_SLEEP, now() + frequency / 100000);
    if (is_error(activity))
      failed("no activity: ", seed, -activity);
    good(CAPABILITY_REVOKE, activity, 0, 0, 0);
  }
}

static u64 find(const char *name, u64 from) {
  u64 tile = call(TILE_FIND, (u64)name, length(name), from, 0, 0, 0, 0);
  if (is_error(tile))
    failed("no tile: ", -tile, from);
  return tile;
}

void _start(struct program_start *start) {
  only_on_first_tile(start);
  const char *words = (const char *)start->text;
  words += length(words) + 1;
  u64 seed = word_at(&words, 1, start), wanted = word_at(&words, 20000, start);
  call(MEMORY_MAP, COUNTS_AT, COUNTS_SIZE, 3, 0, 0, 0, 0);
  call(THREAD_PRIORITY, call1(THREAD_SELF, 0), 0, 0, 0, 0, 0, 0);
  for (u64 n = 0; n < sizeof stacks; n += PAGE)
    ((char *)stacks)[n] = 0;
  for (int n = 0; n < MEMORIES; n++)
    memories[n] = find("", n == 0 ? 0 : memories[n - 1] + 1);
  for (int n = 0; n < ACCELERATORS; n++)
    accelerators[n] = find(names[n + 1], 0);
  start_witness(start->tile, start->frequency);
  u64 sharer = call1(PROCESS_CREATE, 0), status;
  call(PROCESS_MAP, sharer, COUNTS_AT, COUNTS_AT, COUNTS_SIZE, 3 | 8, 0, 0);
  call(PROCESS_END, sharer, 0, 0, 0, 0, 0, 0);
  call(PROCESS_WAIT, sharer, -1ul, 0, 0, 0, 0, &status);
  take_held();
  call(THREAD_CREATE, (u64)watch, start->frequency, COUNTS_AT + COUNTS_SIZE, 0, 0, 0, 0);
  u64 rounds = 0;
  look_at_all(seed, start->frequency, 1);
  while (load(counts) < wanted) {
    calls_left = CALLS;
    store(&shared->is_revoked, 0);
    u64 top = good(CAPABILITY_NARROW, shared->held[7], 0, PAGE, READ);
    u64 sender = good(GATE_SENDER, shared->held[4], GIVEN_LABEL, 4, 0);
    u64 children[AT_ONCE], before = load(counts);
    for (u64 n = 0; n < AT_ONCE; n++)
      children[n] = begin_child(seed + n, n, top, sender);
    // In the middle of the round.
    for (int n = 0; n < 1000 && load(counts) - before < CALLS * AT_ONCE / 2; n++)
      call1(THREAD_SLEEP, now() + start->frequency / 10000);
    good(CAPABILITY_REVOKE, top, 0, 0, 0);
    good(CAPABILITY_REVOKE, sender, 0, 0, 0);
    store(&shared->is_revoked, 1);
    for (u64 n = 0; n < AT_ONCE; n++)
      look(seed + n, end_child(children[n], start->frequency / 500));
    look_at_pages(seed, start->frequency);
    look_at_all(seed, start->frequency, ++rounds % 16 == 0);
    seed += AT_ONCE;
    store(&parent_rounds, load(&parent_rounds) + 1);
  }
  stop_witness();
  look(seed, 0);
  // A call that never succeeds is not tested.
  for (u64 n = 0; n < CALLS_MADE; n++) {
    if (wanted >= 20000 && shared->succeeded[n] == 0)
      failed("a call has never succeeded: ", seed, number_of(n));
  }
  print("", wanted, " calls\n");
  call1(PROCESS_END, 0);
}
