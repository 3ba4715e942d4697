/* Round trips of M3x (ATC 2019, section 7.2) to receivers that run: a message of the core's own
 * bank of the unit, and its answer. Receivers are an accelerator of streams, one of requests, and a
 * core of another tile, which answers at once.
 *
 * REPETITIONS, and the numbers of tiles FFT_TILE, MD_TILE and CORE_TILE are set when it is
 * compiled. It prints comma-separated values: cycles of the core. */
#include "bare.h"

/* The core's endpoints: for answers, and to each receiver. */
enum { GATE = 2, TO_STREAM = 8, TO_REQUEST, TO_CORE };
enum { SLOTS = 4, SLOT = 256, LOG2_SLOT = 8, WARM_UPS = 4 };
enum { COMMIT = 4, ATOMS = 1024, ARRAYS = 7 };

static char slots[SLOTS][SLOT] __attribute__((aligned(SLOT)));

/* A message, and the answer to it. */
static uint64_t round_trip(uint64_t endpoint, const uint64_t *message, uint64_t bytes) {
  uint64_t begin = cycles();
  command(FLICK_DTU_COMMAND_WORD(FLICK_DTU_SEND, endpoint, GATE, 0), message, bytes);
  while (!*unit(FLICK_DTU_EVENTS))
    ;
  uint64_t at = command(FLICK_DTU_COMMAND_WORD(FLICK_DTU_FETCH, GATE, 0xffff, 0), 0, 0);
  volatile uint64_t error = *(const uint64_t *)(at + sizeof(struct flick_dtu_header));
  uint64_t took = cycles() - begin;
  if (error)
    fail("a receiver answers error ", error);
  execute(
      FLICK_DTU_COMMAND_WORD(FLICK_DTU_ACKNOWLEDGE, GATE, 0xffff, (at - (uint64_t)slots) / SLOT));
  return took;
}

static void measure(const char *name, uint64_t endpoint, const uint64_t *message, uint64_t bytes) {
  for (int n = 0; n < WARM_UPS; n++)
    round_trip(endpoint, message, bytes);
  for (int n = 0; n < REPETITIONS; n++) {
    uint64_t took = round_trip(endpoint, message, bytes);
    print(name);
    print(",1,");
    print_number((uint64_t)n);
    print(",");
    print_number(took);
    print("\n");
  }
}

static void set_gate(void) {
  *unit(FLICK_DTU_CURRENT(0)) = ROOT;
  set_own(GATE, MESSAGE, (uint64_t)slots, LOG2_SLOT | SLOTS << 8, 0);
}

/* The core of another tile, whose endpoint the root sets up. */
static void answer_for_ever(void) {
  static const uint64_t answer[3];
  *unit(FLICK_DTU_CURRENT(0)) = activity;
  for (;;) {
    while (!*unit(FLICK_DTU_EVENTS))
      ;
    uint64_t at = command(FLICK_DTU_COMMAND_WORD(FLICK_DTU_FETCH, GATE, 0xffff, 0), 0, 0);
    uint64_t slot = (at - (uint64_t)slots) / SLOT;
    command(FLICK_DTU_COMMAND_WORD(FLICK_DTU_REPLY, GATE, 0xffff, slot), answer, sizeof answer);
  }
}

void bare_main(void) {
  uint64_t tile = *unit(FLICK_DTU_IDENTITY) >> 48;
  if (tile == CORE_TILE)
    answer_for_ever();
  while (tile)
    __asm__ volatile("wfi");
  set_gate();
  set_module(FFT_TILE);
  set_accelerator(FFT_TILE, INPUT, PUSHED);
  set_accelerator(FFT_TILE, CONTROL, START);
  set_sender(TO_STREAM, FFT_TILE, REQUESTS, activity, LOG2_SMALL);
  set(MD_TILE, REQUESTS, MESSAGE, BUFFER, LOG2_SLOT | 2 << 8, 0);
  write_register(MD_TILE, FLICK_DTU_CURRENT(0), &activity, 1);
  set_accelerator(MD_TILE, CONTROL, START);
  set_sender(TO_REQUEST, MD_TILE, REQUESTS, activity, LOG2_SLOT);
  set(CORE_TILE, GATE, MESSAGE, (uint64_t)slots, LOG2_SLOT | SLOTS << 8, 0);
  set_sender(TO_CORE, CORE_TILE, GATE, activity, LOG2_SMALL);

  print("measure,threads,repetition,cycles\n");
  static const uint64_t none[3] = {COMMIT};
  measure("stream accelerator", TO_STREAM, none, sizeof none);
  /* All steps behind the last one: none is made. */
  static uint64_t request[4 + 2 * ARRAYS] = {ATOMS, 0, 1, ARRAYS};
  for (int array = 0; array < ARRAYS; array++)
    request[5 + 2 * array] = array == 3 ? 4 * 16 * ATOMS : 8 * ATOMS;
  measure("request accelerator", TO_REQUEST, request, sizeof request);
  measure("core", TO_CORE, none, sizeof none);
  end(0x5555);
}
