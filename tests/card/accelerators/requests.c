// The software of a root without a kernel. It lets an accelerator of requests add vectors that are
// in a tile of memory, and is the pager that maps them.
#include "root.h"

enum { SUM = 1, DRAM };
// Numbers of a vector, bytes, and how many of them a step adds.
enum { COUNT = 4096, SIZE = 8 * COUNT, STEPS = COUNT / 8, BATCH = 64 };
// The vectors are so far from each other in the memory, and for the accelerator.
enum { APART = 0x101000, LIMIT = 3 * APART };
#define MAPPED 0x40000000ul
// The root's endpoints for requests, and for their answers.
enum { ASKS = 3, ANSWERED = 4, VECTORS = MEMORIES + DRAM };
// Numbers of `crates/abi/src/accelerator.rs`, `dtu_pages.rs` and `step_request.rs`.
enum { PAGES = 9, PAGER, PAGED };
enum { CONTEXT = 0x100, STOP = 2, CONTINUE, STOPPED = 2 };
// A tile that has stopped answers nothing (tests/card/run-root.sh).
enum { PATIENCE = 4000000 };
enum { KEEPS = 1 << 8, READ_WRITE = 3, NO_FILE = 2 };
#define STEPS_BUFFER (1ul << 55)

static char answers[2][256] __attribute__((aligned(256)));
static double vectors[2][COUNT], sums[COUNT];
static u64 faults;

static void line(const char *text, u64 value) {
  print(text);
  number(value);
  print("\n");
}

static void control(u64 value) { set_accelerator(SUM, CONTROL, value); }

static void set_tiles_up(void) {
  set_root_up(DRAM);
  set_own(ANSWERED, 1 | ROOT << 16, (u64)answers, 8 | 2 << 8, 0);
  set_own(ASKS, 2 | ROOT << 16, SUM | REQUESTS << 16 | (u64)ACTIVITY << 32, 0,
          1 | 1 << 16 | 8ul << 32);
  set(SUM, REQUESTS, 1, STEPS_BUFFER, 8 | 2 << 8, 0);
  send_to(SUM, PAGER, 0, SERVES, ROOT);
  set(SUM, PAGED, 3 | 3 << 4, DRAM, 0, LIMIT);
  set(SUM, PAGES, 5, PAGER, 0, 0);
  set_register(SUM, FLICK_DTU_CURRENT(0), ACTIVITY);
  control(START);
}

// Answers a fault of the accelerator's unit, if there is one.
static void serve_fault(void) {
  if (!(*unit(FLICK_DTU_EVENTS) >> SERVES & 1))
    return;
  u64 at = command(FLICK_DTU_FETCH, SERVES, 0, 0, 0, 0);
  const u64 *fault = (const void *)(at + sizeof(struct flick_dtu_header));
  u64 offset = fault[0] - MAPPED;
  u64 answer[3] = {0, READ_WRITE | PAGED << 16, offset};
  if (offset >= LIMIT || offset % APART >= SIZE)
    answer[0] = NO_FILE;
  faults++;
  u64 slot = (at - (u64)slots) / sizeof *slots;
  command(FLICK_DTU_REPLY, SERVES, slot, answer, sizeof answer, 0);
}

static void send(u64 first, u64 count, u64 flags, u64 where) {
  u64 request[10] = {first, count, 1, 3 | flags};
  for (int n = 0; n < 3; n++) {
    request[4 + 2 * n] = where + n * APART;
    request[5 + 2 * n] = SIZE;
  }
  ask(ASKS, ANSWERED, request, sizeof request);
}

// Waits for the answer: its error, or else the steps that were made.
static u64 wait(u64 *steps) {
  u64 began = cycles();
  while (!(*unit(FLICK_DTU_EVENTS) >> ANSWERED & 1)) {
    serve_fault();
    if (cycles() - began > PATIENCE)
      stop("no answer in cycles: ", PATIENCE);
  }
  u64 at = command(FLICK_DTU_FETCH, ANSWERED, 0, 0, 0, 0);
  const u64 *answer = (const void *)(at + sizeof(struct flick_dtu_header));
  u64 error = answer[0];
  *steps += answer[1];
  command(FLICK_DTU_ACKNOWLEDGE, ANSWERED, (at - (u64)answers) / 256, 0, 0, 0);
  return error;
}

// How many sums in the memory are wrong. They are 0 then.
static u64 wrong_sums(void) {
  u64 wrong = 0;
  command(FLICK_DTU_READ, VECTORS, 0, sums, SIZE, 2 * APART);
  for (u64 n = 0; n < COUNT; n++) {
    wrong += sums[n] != vectors[0][n] + vectors[1][n];
    sums[n] = 0;
  }
  command(FLICK_DTU_WRITE, VECTORS, 0, sums, SIZE, 2 * APART);
  return wrong;
}

void root(void) {
  for (u64 n = 0; n < COUNT; n++) {
    vectors[0][n] = n * 3;
    vectors[1][n] = n * 0.25;
  }
  set_tiles_up();
  for (int n = 0; n < 2; n++)
    command(FLICK_DTU_WRITE, VECTORS, 0, vectors[n], SIZE, n * APART);
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
    serve_fault();
  control(STOP);
  began = cycles();
  while (accelerator(SUM, STATUS) != STOPPED) {
    serve_fault();
    if (cycles() - began > PATIENCE)
      stop("it does not stop in cycles: ", PATIENCE);
  }
  u64 made = accelerator(SUM, CONTEXT + 5 * 8);
  line("stopped between steps: ", made > 0 && made < STEPS);
  command(FLICK_DTU_READ, VECTORS, 0, sums, SIZE, 2 * APART);
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
  end(0);
}
