// The software of a root without a kernel. It lets an accelerator of requests add vectors that are
// in a tile of memory, and is the pager that maps them.
#include "flick_dtu.h"

enum { SUM = 1, DRAM };
// Numbers of a vector, bytes, and how many of them a step adds.
enum { COUNT = 4096, SIZE = 8 * COUNT, STEPS = COUNT / 8, BATCH = 64 };
// The vectors are so far from each other in the memory, and for the accelerator.
enum { APART = 0x101000, LIMIT = 3 * APART };
#define MAPPED 0x40000000ul
// The root's endpoints.
enum { SERVES = 2, ASKS = 3, ANSWERED = 4, REGISTERS = 10, MEMORY = 11 };
// Numbers of `crates/abi/src/accelerator.rs`, `dtu_pages.rs` and `step_request.rs`.
enum { REQUESTS = 8, PAGES, PAGER, PAGED };
enum { CONTROL = 0x00, STATUS = 0x08, CONTEXT = 0x100, START = 1, STOP, CONTINUE, STOPPED = 2 };
enum { KEEPS = 1 << 8, READ_WRITE = 3, NO_FILE = 2 };
enum { ROOT = 1, ACTIVITY = 7 };
#define STEPS_BUFFER (1ul << 55)

typedef unsigned long u64;
static char slots[8][256] __attribute__((aligned(256)));
static char answers[2][256] __attribute__((aligned(256)));
static double vectors[2][COUNT], sums[COUNT];
static u64 faults;

static volatile u64 *unit(u64 offset) { return (volatile u64 *)(0xf0000000 + offset); }

static void print(const char *text) {
  while (*text)
    *(volatile char *)0x10000000 = *text++;
}

static void line(const char *text, u64 value) {
  char digits[24], *at = digits + 23;
  *at = 0;
  do
    *--at = '0' + value % 10;
  while (value /= 10);
  print(text);
  print(at);
  print("\n");
}

static u64 command(u64 word, const void *address, u64 size, u64 offset) {
  *unit(FLICK_DTU_ADDRESS) = (u64)address;
  *unit(FLICK_DTU_SIZE) = size;
  *unit(FLICK_DTU_OFFSET) = offset;
  *unit(FLICK_DTU_COMMAND) = word;
  while (*unit(FLICK_DTU_COMMAND))
    ;
  u64 outcome = *unit(FLICK_DTU_RESULT);
  if (outcome & 0xff) {
    line("command fails: ", outcome & 0xff);
    *(volatile int *)0x100000 = 0x3333 | 1 << 16;
  }
  return outcome >> 8;
}

static u64 word(u64 command, u64 endpoint, u64 slot) {
  return FLICK_DTU_COMMAND_WORD(command, endpoint, 0xffff, slot);
}

static void set_own(u64 endpoint, u64 kind, u64 second, u64 third, u64 fourth) {
  *unit(FLICK_DTU_ENDPOINT_WORD(endpoint, 1)) = second;
  *unit(FLICK_DTU_ENDPOINT_WORD(endpoint, 2)) = third;
  *unit(FLICK_DTU_ENDPOINT_WORD(endpoint, 3)) = fourth;
  *unit(FLICK_DTU_ENDPOINT_WORD(endpoint, 0)) = kind | ROOT << 16;
}

static void set(u64 endpoint, u64 kind, u64 second, u64 third, u64 fourth) {
  u64 words[4] = {kind | ACTIVITY << 16, second, third, fourth};
  command(word(FLICK_DTU_WRITE, REGISTERS, 0), words, 32, FLICK_DTU_ENDPOINT_WORD(endpoint, 0));
}

static void set_register(u64 offset, u64 value) {
  command(word(FLICK_DTU_WRITE, REGISTERS, 0), &value, 8, offset);
}

static void control(u64 value) { set_register(FLICK_DTU_ACCELERATOR_REGISTERS + CONTROL, value); }

static u64 accelerator(u64 offset) {
  u64 value = 0;
  command(word(FLICK_DTU_READ, REGISTERS, 0), &value, 8, FLICK_DTU_ACCELERATOR_REGISTERS + offset);
  return value;
}

static void set_tiles_up(void) {
  *unit(FLICK_DTU_CURRENT(0)) = ROOT;
  set_own(SERVES, 1, (u64)slots, 8 | 8 << 8, 0);
  set_own(ANSWERED, 1, (u64)answers, 8 | 2 << 8, 0);
  set_own(ASKS, 2, SUM | REQUESTS << 16 | (u64)ACTIVITY << 32, 0, 1 | 1 << 16 | 8ul << 32);
  set_own(REGISTERS, 4, SUM, 0, 0);
  set_own(MEMORY, 3 | 3 << 4, DRAM, 0, 64 << 20);
  set(REQUESTS, 1, STEPS_BUFFER, 8 | 2 << 8, 0);
  set(PAGER, 2, SERVES << 16 | (u64)ROOT << 32, 0, 1 | 1 << 16 | 6ul << 32);
  set(PAGED, 3 | 3 << 4, DRAM, 0, LIMIT);
  set(PAGES, 5, PAGER, 0, 0);
  set_register(FLICK_DTU_CURRENT(0), ACTIVITY);
  control(START);
}

// Answers a fault of the accelerator's unit, if there is one.
static void serve(void) {
  if (!(*unit(FLICK_DTU_EVENTS) >> SERVES & 1))
    return;
  u64 at = command(word(FLICK_DTU_FETCH, SERVES, 0), 0, 0, 0);
  const u64 *fault = (const void *)(at + sizeof(struct flick_dtu_header));
  u64 offset = fault[0] - MAPPED;
  u64 answer[3] = {0, READ_WRITE | PAGED << 16, offset};
  if (offset >= LIMIT || offset % APART >= SIZE)
    answer[0] = NO_FILE;
  faults++;
  u64 slot = (at - (u64)slots) / sizeof *slots;
  command(word(FLICK_DTU_REPLY, SERVES, slot), answer, sizeof answer, 0);
}

static void send(u64 first, u64 count, u64 flags, u64 where) {
  u64 request[10] = {first, count, 1, 3 | flags};
  for (int n = 0; n < 3; n++) {
    request[4 + 2 * n] = where + n * APART;
    request[5 + 2 * n] = SIZE;
  }
  command(FLICK_DTU_COMMAND_WORD(FLICK_DTU_SEND, ASKS, ANSWERED, 0), request, sizeof request, 0);
}

// Waits for the answer: its error, or else the steps that were made.
static u64 wait(u64 *steps) {
  while (!(*unit(FLICK_DTU_EVENTS) >> ANSWERED & 1))
    serve();
  u64 at = command(word(FLICK_DTU_FETCH, ANSWERED, 0), 0, 0, 0);
  const u64 *answer = (const void *)(at + sizeof(struct flick_dtu_header));
  u64 error = answer[0];
  *steps += answer[1];
  command(word(FLICK_DTU_ACKNOWLEDGE, ANSWERED, (at - (u64)answers) / 256), 0, 0, 0);
  return error;
}

// How many sums in the memory are wrong. They are 0 then.
static u64 wrong_sums(void) {
  u64 wrong = 0;
  command(word(FLICK_DTU_READ, MEMORY, 0), sums, SIZE, 2 * APART);
  for (u64 n = 0; n < COUNT; n++) {
    wrong += sums[n] != vectors[0][n] + vectors[1][n];
    sums[n] = 0;
  }
  command(word(FLICK_DTU_WRITE, MEMORY, 0), sums, SIZE, 2 * APART);
  return wrong;
}

static u64 cycles(void) {
  u64 value;
  __asm__ volatile("rdcycle %0" : "=r"(value));
  return value;
}

void root(void) {
  for (u64 n = 0; n < COUNT; n++) {
    vectors[0][n] = n * 3;
    vectors[1][n] = n * 0.25;
  }
  set_tiles_up();
  for (int n = 0; n < 2; n++)
    command(word(FLICK_DTU_WRITE, MEMORY, 0), vectors[n], SIZE, n * APART);
  u64 steps = 0, errors = 0;
  u64 began = cycles();
  send(0, 0, 0, MAPPED);
  errors += wait(&steps) != 0;
  u64 took = cycles() - began;
  line("steps: ", steps);
  line("wrong sums: ", wrong_sums());
  line("pages that were missing: ", faults);
  // A step takes 500 cycles, and reads two lines, and later writes one.
  line("within 700 cycles a step: ", took > STEPS * 500 && took < STEPS * 700);

  steps = 0;
  for (u64 first = 0; first < STEPS; first += BATCH) {
    send(first, BATCH, first ? KEEPS : 0, MAPPED);
    errors += wait(&steps) != 0;
  }
  line("steps in batches: ", steps);
  line("wrong sums: ", wrong_sums());

  // Stopped between two steps, and continued.
  steps = 0;
  send(0, 0, 0, MAPPED);
  for (int n = 0; n < 100; n++)
    serve();
  control(STOP);
  while (accelerator(STATUS) != STOPPED)
    serve();
  u64 made = accelerator(CONTEXT + 5 * 8);
  line("stopped between steps: ", made > 0 && made < STEPS);
  command(word(FLICK_DTU_READ, MEMORY, 0), sums, SIZE, 2 * APART);
  u64 there = 0;
  for (u64 n = 0; n < 8 * made; n++)
    there += sums[n] == vectors[0][n] + vectors[1][n];
  line("their sums are in the memory: ", there == 8 * made);
  control(CONTINUE);
  errors += wait(&steps) != 0;
  line("steps: ", steps);
  line("wrong sums: ", wrong_sums());
  line("errors: ", errors);

  // No file is there.
  send(0, 0, 0, MAPPED + LIMIT);
  line("error of a page that is not mapped: ", wait(&steps));
  *(volatile int *)0x100000 = 0x5555;
  for (;;)
    ;
}

static char stack[8192] __attribute__((aligned(16)));

__attribute__((naked)) void _start(void) {
  __asm__("csrr t0, mhartid\n"
          "bnez t0, 1f\n"
          "li t0, 0x6000\n"
          "csrs mstatus, t0\n"
          "la sp, %0 + 8192\n"
          "call root\n"
          "1: wfi\n"
          "j 1b\n"
          :
          : "i"(stack));
}
