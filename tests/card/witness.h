// A process that must notice nothing of what others do. Its threads hold patterns in registers,
// memory, a mailbox and a portal's buffer, and look whether they are still there.
#ifndef WITNESS_H
#define WITNESS_H
#include "bare_card.h"

enum {
  THREAD_SELF = 0,
  THREAD_WAIT_ON = 23,
  THREAD_PLACE = 25,
  THREAD_PRIORITY = 26,
  MEMORY_MAP = 32,
  MEMORY_PROTECT = 34,
  PROCESS_CREATE = 40,
  PROCESS_MAP = 42,
  PROCESS_SELF = 46,
  MAILBOX_CREATE = 64,
  MAILBOX_SEND = 66,
  MAILBOX_RECEIVE = 67,
  PORTAL_CREATE = 69,
  PORTAL_ALLOW = 71,
};
enum { ENOENT = 2, ETIMEDOUT = 110 };

enum { WITNESSES = 6, WITNESS_PORT = 77, WITNESS_PORTAL = 78, SECRET_PAGES = 16 };

// What the witness tells, in memory that it shares with its parent. A line has one writer.
struct told {
  u64 rounds, failures, thread, what, found, rest[3];
};
struct witness_page {
  struct told told[WITNESSES];
  u64 process, stops;
};

// The harts that its threads may run on.
static u64 witness_harts = -1ul;
// The longest rest, in ticks: a round takes 500 ms if the kernel waits for a hart that has stopped.
static u64 longest_rest = -1ul;

#define WITNESS_AT 0x3000000000ul
#define witness ((struct witness_page *)WITNESS_AT)

static char witness_stacks[WITNESSES][4096] __attribute__((aligned(4096)));

// An atomic operation acts on memory, also where caches are not coherent.
static inline u64 load(u64 *at) { return __atomic_fetch_or(at, 0, __ATOMIC_ACQ_REL); }
static inline void store(u64 *at, u64 value) { __atomic_exchange_n(at, value, __ATOMIC_ACQ_REL); }

// Words that nobody else has. The number of a word can be told from it.
#define SECRET 0xc0de5ec2e7c0de37ul
#define FACTOR 0x9e3779b97f4a7c15ul
#define INVERSE 0xf1de83e19937733dul
static inline u64 secret(u64 n) { return SECRET ^ n * FACTOR; }
static inline int is_secret(u64 word) {
  u64 n = (word ^ SECRET) * INVERSE;
  return n != 0 && n < 1 << 20;
}

static void fail(u64 who, u64 what, u64 found) {
  struct told *told = &witness->told[who];
  if (__atomic_fetch_add(&told->failures, 1, __ATOMIC_ACQ_REL) == 0) {
    store(&told->what, what);
    store(&told->found, found);
  }
}

// A round is over, which has begun then. Harts are for others, too: on slow machines as well.
static u64 rest(u64 who, u64 rounds, u64 begin) {
  store(&witness->told[who].rounds, rounds);
  u64 ticks = 16 * (now() - begin);
  call1(THREAD_SLEEP, now() + (ticks < longest_rest ? ticks : longest_rest));
  return now();
}

// All registers but sp, t0 and a7 hold `in`, during a call and so many loops. `out` gets what they
// have then. Words 0 to 31 are integer registers, of which the 5th is fcsr, and 32 to 63 are
// floating point.
__attribute__((naked, noinline)) static void hold(const u64 *in, u64 *out, u64 loops, u64 number) {
  __asm__(
      ".macro each_x do\n"
      "\\do x1, 8\n\\do x3, 24\n\\do x4, 32\n\\do x6, 48\n\\do x7, 56\n\\do x8, 64\n\\do x9, 72\n"
      "\\do x11, 88\n\\do x12, 96\n\\do x13, 104\n\\do x14, 112\n\\do x15, 120\n\\do x16, 128\n"
      "\\do x18, 144\n\\do x19, 152\n\\do x20, 160\n\\do x21, 168\n\\do x22, 176\n\\do x23, 184\n"
      "\\do x24, 192\n\\do x25, 200\n\\do x26, 208\n\\do x27, 216\n\\do x28, 224\n\\do x29, 232\n"
      "\\do x30, 240\n.endm\n"
      ".macro load_x reg, at\nld \\reg, \\at(a0)\n.endm\n"
      ".macro store_x reg, at\nsd \\reg, \\at(x31)\n.endm\n"
      ".macro keep_x reg, at\nsd \\reg, \\at(sp)\n.endm\n"
      ".macro back_x reg, at\nld \\reg, \\at(sp)\n.endm\n"
      "addi sp, sp, -400\n"
      "each_x keep_x\n"
      ".irp n, 0,1,2,3,4,5,6,7,8,9,10,11\nfsd fs\\n, 256+8*\\n(sp)\n.endr\n"
      "ld t0, 40(a0)\ncsrw fcsr, t0\n"
      ".irp n, "
      "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31\n"
      "fld f\\n, 256+8*\\n(a0)\n.endr\n"
      "mv t0, a2\nmv a7, a3\n"
      "each_x load_x\nld x31, 248(a0)\nld a0, 80(a0)\n"
      "ecall\n"
      "1: addi t0, t0, -1\nbnez t0, 1b\n"
      "sd x31, 360(sp)\nld x31, 88(sp)\n"
      "each_x store_x\nsd a0, 80(x31)\nld a0, 360(sp)\nsd a0, 248(x31)\n"
      "csrr t0, fcsr\nsd t0, 40(x31)\n"
      ".irp n, "
      "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31\n"
      "fsd f\\n, 256+8*\\n(x31)\n.endr\n"
      "csrw fcsr, zero\n"
      ".irp n, 0,1,2,3,4,5,6,7,8,9,10,11\nfld fs\\n, 256+8*\\n(sp)\n.endr\n"
      "each_x back_x\n"
      "addi sp, sp, 400\nret\n");
}

static void holds_registers(u64 who) {
  u64 in[64] __attribute__((aligned(64))), out[64] __attribute__((aligned(64)));
  u64 round = 0, begin = now();
  static const unsigned char calls[] = {KERNEL_NOTHING, THREAD_SELF, THREAD_YIELD, HART_SELF};
  while (!load(&witness->stops)) {
    for (u64 n = 0; n < 64; n++)
      in[n] = (who + 1) << 56 ^ round << 32 ^ n * FACTOR;
    // A rounding mode, and exceptions.
    in[5] = round % 5 << 5 | round % 32;
    hold(in, out, 1 + round * 97 % 2000, calls[round % sizeof calls]);
    for (u64 n = 0; n < 64; n++)
      // 0 and sp are not held; a7 has the call, and a0 and a1 its results.
      if (n != 0 && n != 2 && n != 10 && n != 11 && n != 17 && out[n] != in[n])
        fail(who, n, out[n]);
    begin = rest(who, ++round, begin);
  }
}

static void holds_memory(u64 who) {
  u64 *words = (u64 *)call(MEMORY_MAP, 0, SECRET_PAGES * 4096, 3, 0, 0, 0, 0),
      count = SECRET_PAGES * 512;
  for (u64 n = 0; n < count; n++)
    words[n] = secret(n + 1);
  u64 begin = now();
  for (u64 round = 0; !load(&witness->stops); begin = rest(who, ++round, begin))
    for (u64 n = round % 8; n < count; n += 8) {
      if (words[n] != secret(n + 1))
        fail(who, n, words[n]);
      words[n] = secret(n + 1);
    }
}

// Its own messages come back as they were, and nobody else has sent under its number.
static void holds_messages(u64 who, u64 tile) {
  u64 buffer[64] __attribute__((aligned(128))), message[15], got[15], sender, sent = 0, taken = 0;
  u64 own = tile << 32 | call1(PROCESS_SELF, 0);
  call1(MAILBOX_CREATE, WITNESS_PORT);
  call1(PORTAL_CREATE, WITNESS_PORTAL);
  for (int n = 0; n < 64; n++)
    buffer[n] = secret(n + 1);
  // Nobody but itself may write there.
  call(PORTAL_ALLOW, WITNESS_PORTAL, own, (u64)buffer, sizeof buffer, 0, 0, 0);
  u64 begin = now();
  for (u64 round = 0; !load(&witness->stops); begin = rest(who, ++round, begin)) {
    for (int n = 0; n < 15; n++)
      message[n] = secret(sent + n + 1);
    if (call(MAILBOX_SEND, tile, WITNESS_PORT, (u64)message, now() + 100, 0, 0, 0) == 0)
      sent++;
    while (taken < sent &&
           call(MAILBOX_RECEIVE, WITNESS_PORT, (u64)got, now(), 0, 0, 0, &sender) == 0) {
      if (sender != own)
        continue;
      for (int n = 0; n < 15; n++)
        if (got[n] != secret(taken + n + 1))
          fail(who, n, got[n]);
      taken++;
    }
    if (taken != sent)
      fail(who, 100, taken);
    for (int n = 0; n < 64; n++)
      if (buffer[n] != secret(n + 1))
        fail(who, 200 + n, buffer[n]);
  }
}

// Nobody wakes or moves it, changes its priority, or gives it children.
static void holds_state(u64 who) {
  u64 self = call1(THREAD_SELF, 0), harts = call(THREAD_PLACE, self, witness_harts, 0, 0, 0, 0, 0);
  u64 process, parent, its_parent;
  process = call(PROCESS_SELF, 0, 0, 0, 0, 0, 0, &parent);
  unsigned word __attribute__((aligned(64))) = 5;
  for (u64 round = 0; !load(&witness->stops); store(&witness->told[who].rounds, ++round)) {
    u64 error = -call1(THREAD_SLEEP, now() + 100);
    if (error != ETIMEDOUT)
      fail(who, 1, error);
    error = -call(THREAD_WAIT_ON, (u64)&word, 5, now() + 100, 0, 0, 0, 0);
    if (error != ETIMEDOUT)
      fail(who, 2, error);
    u64 before = call(THREAD_PRIORITY, self, 0, 0, 0, 0, 0, 0);
    if (before != 0)
      fail(who, 3, before);
    before = call(THREAD_PLACE, self, witness_harts, 0, 0, 0, 0, 0);
    if (before != harts)
      fail(who, 4, before);
    if (call(PROCESS_SELF, 0, 0, 0, 0, 0, 0, &its_parent) != process || its_parent != parent)
      fail(who, 5, its_parent);
    error = -call(PROCESS_WAIT, 0, now(), 0, 0, 0, 0, 0);
    if (error != ENOENT)
      fail(who, 6, error);
  }
}

static void witness_thread(u64 argument) {
  u64 who = argument % 256, tile = argument >> 8;
  u64 self = call1(THREAD_SELF, 0);
  call(THREAD_PLACE, self, witness_harts, 0, 0, 0, 0, 0);
  store(&witness->told[who].thread, self);
  if (who == 0)
    holds_messages(who, tile);
  else if (who == 1)
    holds_memory(who);
  else if (who == 2)
    holds_state(who);
  else
    holds_registers(who);
  call1(THREAD_EXIT, 0);
}

// The most urgent threads: others cannot keep harts from them.
static void witness_process(u64 tile) {
  call(THREAD_PRIORITY, call1(THREAD_SELF, 0), 0, 0, 0, 0, 0, 0);
  for (u64 who = 1; who < WITNESSES; who++)
    call(THREAD_CREATE, (u64)witness_thread, tile << 8 | who, (u64)witness_stacks[who] + 4096, 0, 0,
         0, 0);
  witness_thread(tile << 8);
}

// Starts it, and waits until all of its threads have begun.
static void start_witness(u64 tile, u64 frequency) {
  u64 status;
  longest_rest = frequency / 2;
  call(MEMORY_MAP, WITNESS_AT, 4096, 3, 0, 0, 0, 0);
  store(&witness->stops, 0);
  // A page that was shared once stays so in copies of the process.
  u64 child = call1(PROCESS_CREATE, 0);
  call(PROCESS_MAP, child, WITNESS_AT, WITNESS_AT, 4096, 3 | 8, 0, 0);
  call(PROCESS_END, child, 0, 0, 0, 0, 0, 0);
  call(PROCESS_WAIT, child, -1ul, 0, 0, 0, 0, &status);
  store(&witness->process, call1(PROCESS_COPY, 0));
  call(PROCESS_START, witness->process, (u64)witness_process, (u64)witness_stacks[0] + 4096, tile,
       0, 0, 0);
  for (int who = 0; who < WITNESSES; who++)
    while (load(&witness->told[who].rounds) == 0)
      call1(THREAD_SLEEP, now() + frequency / 10000);
}

// A process that is not to be trusted can see the page and not change it.
static inline void only_see_witness(void) { call(MEMORY_PROTECT, WITNESS_AT, 4096, 1, 0, 0, 0, 0); }

// Prints what the witness has found. Returns how much that is.
static u64 witness_failures(void) {
  u64 all = 0;
  for (int who = 0; who < WITNESSES; who++) {
    struct told *told = &witness->told[who];
    u64 failures = load(&told->failures);
    all += failures;
    if (failures) {
      print("witness ", who, " has found ");
      print("", failures, " changes: ");
      print("", load(&told->what), " is ");
      print("", load(&told->found), "\n");
    }
  }
  return all;
}

static void stop_witness(void) {
  u64 status;
  store(&witness->stops, 1);
  call(PROCESS_WAIT, witness->process, -1ul, 0, 0, 0, 0, &status);
  if (status != 0)
    print("the witness has ended with ", status, "\n");
}
#endif
