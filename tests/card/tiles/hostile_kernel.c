// The firmware of a tile that a root governs, in place of a kernel: it has the machine mode of its
// hart, and all registers of its unit. First it sets up endpoints by itself. Then it sends random
// and nearly right calls to the root's kernel. It prints what it has reached.
//
// CALLS and SEED are set when it is compiled.
#include <flick_dtu.h>

typedef unsigned long u64;

// The endpoints that the root sets up, and numbers of `crates/abi/src/card/remote_call.rs`.
enum { FROM_ROOT, TO_ROOT, SLOTS = 32, SLOT = 256 };
enum { WORDS = 29, IS_THERE = 0xfe, ENDED = 0xff };
enum { ANSWER_VALUES, ANSWER_AGAIN, ANSWER_ENDPOINT, ANSWER_GATE };
// The tile's memory, and the buffer of what the root tells it.
#define BASE 0x80000000ul
#define SIZE (16ul << 20)
#define BUFFER (BASE + SIZE - (64ul << 10))
#define NOTICE (1ul << 63)
enum { KERNEL = 1, DRAM = 6, ENDPOINTS = 64, CAPABILITIES = 64 };
enum { GOOD, NO_ENDPOINT, NO_CREDITS };

static char words[1024] __attribute__((aligned(256)));
static u64 capabilities[CAPABILITIES], count, state = SEED * 2654435761ul + 88172645463325252ul;

static volatile u64 *unit(u64 offset) { return (volatile u64 *)(0xf0000000 + offset); }

static void print(const char *text) {
  while (*text)
    *(volatile char *)0x10000000 = *text++;
}

static void say(const char *text, u64 value) {
  char digits[24], *at = digits + 23;
  *at = 0;
  do
    *--at = '0' + value % 10;
  while (value /= 10);
  print(text);
  print(at);
  print("\n");
}

static u64 next(void) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state >> 8;
}

// Executes a command; the error.
static u64 execute(u64 word, const void *address, u64 size, u64 offset) {
  *unit(FLICK_DTU_ADDRESS) = (u64)address;
  *unit(FLICK_DTU_SIZE) = size;
  *unit(FLICK_DTU_OFFSET) = offset;
  *unit(FLICK_DTU_COMMAND) = word;
  // What the root aborts goes on for the root, whatever is written here.
  while (*unit(FLICK_DTU_COMMAND))
    *unit(FLICK_DTU_ENABLE) = ~0ul;
  return *unit(FLICK_DTU_RESULT) & 0xff;
}

static void set_own(u64 endpoint, u64 first, u64 second, u64 third, u64 fourth) {
  *unit(FLICK_DTU_ENDPOINT_WORD(endpoint, 1)) = second;
  *unit(FLICK_DTU_ENDPOINT_WORD(endpoint, 2)) = third;
  *unit(FLICK_DTU_ENDPOINT_WORD(endpoint, 3)) = fourth;
  *unit(FLICK_DTU_ENDPOINT_WORD(endpoint, 0)) = first | KERNEL << 16;
}

// Memory of all tiles, their registers, and the root's endpoints, by endpoints of its own.
static void set_endpoints_up(u64 first) {
  u64 reached = 0, sent = 0, changed = 0;
  for (u64 tile = 0; tile <= DRAM; tile++) {
    set_own(first, 3 | 3 << 4, tile, tile ? 0 : BASE, 1 << 20);
    reached += execute(FLICK_DTU_COMMAND_WORD(FLICK_DTU_READ, first, 0xffff, 0), words, 64, 0) == 0;
    reached +=
        execute(FLICK_DTU_COMMAND_WORD(FLICK_DTU_WRITE, first, 0xffff, 0), words, 64, 0) == 0;
    set_own(first, 4, tile, 0, 0);
    reached += execute(FLICK_DTU_COMMAND_WORD(FLICK_DTU_READ, first, 0xffff, 0), words, 64,
                       FLICK_DTU_ENDPOINT_WORD(0, 0)) == 0;
    for (u64 endpoint = 0; endpoint < 10; endpoint++) {
      set_own(first, 2, tile | endpoint << 16 | (u64)KERNEL << 32, 0, 1 | 1 << 16 | 8ul << 32);
      sent += execute(FLICK_DTU_COMMAND_WORD(FLICK_DTU_SEND, first, 0xffff, 0), words, 64, 0) == 0;
    }
  }
  for (u64 endpoint = first; endpoint < ENDPOINTS; endpoint++)
    for (u64 word = 0; word < 4; word++) {
      u64 before = *unit(FLICK_DTU_ENDPOINT_WORD(endpoint, word));
      *unit(FLICK_DTU_ENDPOINT_WORD(endpoint, word)) = before ^ 0x10003;
      changed += *unit(FLICK_DTU_ENDPOINT_WORD(endpoint, word)) != before;
    }
  say("ranges that it has reached: ", reached);
  say("messages that it has sent: ", sent);
  say("words that it has changed: ", changed);
}

// What the root says: capabilities are kept, and each notice is answered but one in some.
static void listen(void) {
  while (*unit(FLICK_DTU_EVENTS) & 1 << FROM_ROOT) {
    if (execute(FLICK_DTU_COMMAND_WORD(FLICK_DTU_FETCH, FROM_ROOT, 0xffff, 0), 0, 0, 0))
      return;
    u64 at = *unit(FLICK_DTU_RESULT) >> 8;
    if (at == 0)
      return;
    const volatile struct flick_dtu_header *header = (const volatile void *)at;
    const volatile u64 *payload = (const volatile u64 *)(at + sizeof *header);
    u64 slot = (at - BUFFER) / SLOT;
    if ((payload[2] == ANSWER_VALUES || payload[2] == ANSWER_GATE) && (long)payload[0] > 0)
      capabilities[count++ % CAPABILITIES] = payload[0];
    if (header->label & NOTICE && next() % 64)
      execute(FLICK_DTU_COMMAND_WORD(FLICK_DTU_REPLY, FROM_ROOT, 0xffff, slot), words, 0, 0);
    execute(FLICK_DTU_COMMAND_WORD(FLICK_DTU_ACKNOWLEDGE, FROM_ROOT, 0xffff, slot), 0, 0, 0);
  }
}

static u64 argument(void) {
  u64 value = next();
  switch (next() % 12) {
  case 0:
    return 0;
  case 1:
    return value % 16;
  case 2:
    return -(value % 4096);
  case 3:
    return value;
  case 4:
    return BASE + value % SIZE / 4096 * 4096;
  case 5:
    return BASE + SIZE - 4096 + value % 8192;
  case 6:
    return value % 8192 | (value >> 20) % 4 << 16;
  case 7:
    return value % 200;
  default:
    return capabilities[value % CAPABILITIES];
  }
}

static void call(void) {
  u64 *message = (u64 *)words;
  u64 number = next() % 8 ? 80 + next() % 37 : next() % 256, size = 8 * (next() % (WORDS + 1));
  if (number == ENDED && next() % 8)
    number = 81;
  message[0] =
      number | (next() % 4 ? 0 : next() % 9) << 8 | (next() % 16 ? next() % 12 : next()) << 32;
  for (int n = 1; n < WORDS; n++)
    message[n] = argument();
  // What works: memory, gates, and copies by the root.
  if (number == 81 && next() % 4)
    // Memory that the root clears in parts: nobody makes the call again.
    message[1] = DRAM, message[2] = next() % 8 ? next() % 20000 : 3ul << 20;
  if (number == 87 && next() % 4)
    message[1] = BASE + (2ul << 20) + next() % 64 * 4096;
  if (number >= 80 && next() % 2)
    size = 8 * WORDS;
  u64 answers = next() % 16 ? FROM_ROOT : next() % 64, error;
  *unit(FLICK_DTU_LABEL) = next() % 8 ? next() % 1000 : next();
  while ((error = execute(FLICK_DTU_COMMAND_WORD(FLICK_DTU_SEND, TO_ROOT, answers, 0), words, size,
                          0)) == NO_CREDITS)
    listen();
}

// Commands by endpoints that the root has set up for gates, senders and memory.
static void use(void) {
  u64 endpoint = next() % ENDPOINTS, command = 1 + next() % 8;
  *unit(FLICK_DTU_CURRENT(0)) = *unit(FLICK_DTU_ENDPOINT_WORD(endpoint, 0)) >> 16 & 0xffff;
  if (command != FLICK_DTU_SLEEP && endpoint > TO_ROOT)
    execute(FLICK_DTU_COMMAND_WORD(command, endpoint, next() % ENDPOINTS, next() % 16),
            words + next() % 64 * 8, next() % 300, next() % 20000);
  *unit(FLICK_DTU_CURRENT(0)) = KERNEL;
}

__attribute__((used)) static void kernel(void) {
  *unit(FLICK_DTU_CURRENT(0)) = KERNEL;
  set_endpoints_up(2);
  while (execute(FLICK_DTU_COMMAND_WORD(FLICK_DTU_SEND, TO_ROOT, FROM_ROOT, 0), words, 0, 0) ==
         NO_ENDPOINT)
    ;
  for (u64 n = 0; n < CALLS; n++) {
    call();
    if (next() % 4 == 0)
      use();
    listen();
  }
  set_endpoints_up(2);
  say("calls: ", CALLS);
}

static char stack[16384] __attribute__((aligned(16), used));

__attribute__((naked)) void _start(void) {
  __asm__("csrr t0, mhartid\n"
          "bnez t0, 1f\n"
          "la sp, stack + 16384\n"
          "call kernel\n"
          "1: wfi\n"
          "j 1b\n");
}
