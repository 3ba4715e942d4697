/* The image chain of M3x (ATC 2019, section 7.6), assisted: this program drives the accelerators
 * for each block. It loads the input into the local memory of the first one, starts each of them by
 * a message, and asks each to move its result to the next one or to the output file.
 *
 *   assisted STEP BLOCKS BUFFERS REPETITIONS
 *
 * prints comma-separated values for 1 chain, and so many more, up to 4. Images have so many blocks.
 * With one buffer an accelerator computes or moves data, as the paper's does; with two it does both
 * at a time. */
#include "assisted_driver.h"
#include "chains.h"

static struct chain chains[MOST_CHAINS];
static uint64_t buffers, gate, into[MOST_CHAINS];
static char block[BLOCK] __attribute__((aligned(64)));

_Noreturn static void fail(const char *what, uint64_t value) {
  printf("%s%lu\n", what, (unsigned long)value);
  exit(1);
}

static void send_to(struct stage *stage, const uint64_t message[3], uint64_t label) {
  good(flick_gate_send(stage->sender, (uint64_t)message, 24, gate, label), "gate_send");
}

static void answer_with(uint64_t slot, const uint64_t answer[3]) {
  good(flick_gate_answer(gate, slot, (uint64_t)answer, 24), "gate_answer");
}

static void load_block(uint64_t number, uint64_t offset, uint64_t at, uint64_t bytes) {
  good(flick_tile_load(chains[number].input, at, (uint64_t)block, bytes), "tile_load");
  good(flick_tile_store(into[number], offset, (uint64_t)block, bytes), "tile_store");
}

/* The last stage writes the file itself. */
static uint64_t output_place(uint64_t at) { return at; }
static void keep_block(uint64_t number, uint64_t at, uint64_t bytes) {
  (void)number, (void)at, (void)bytes;
}

static void start(struct chain *chain, uint64_t number) {
  memset(&drivers[number], 0, sizeof drivers[number]);
  make_activities(chain, (int)number, buffers);
  for (int n = FFT; n < STAGES; n++) {
    drivers[number].stages[n].sender = sender_to(chain, n);
    connect(chain->activities[n], FLICK_OUTPUT_REQUESTS,
            good(flick_gate_sender(gate, number << 8 | (uint64_t)n, 1), "gate_sender"));
    connect(chain->activities[n], FLICK_OUTPUT_DATA,
            n < IFFT ? blocks_of(chain, n + 1, buffers) : part(chain->output, size, FLICK_WRITE));
  }
  into[number] = blocks_of(chain, FFT, buffers);
}

static void run(uint64_t count, uint64_t repetition) {
  gate = good(flick_gate_create(), "gate_create");
  for (uint64_t n = 0; n < count; n++)
    start(&chains[n], n);
  begin_to_measure();
  for (uint64_t n = 0; n < count; n++) {
    for (int stage = IFFT; stage >= FFT; stage--)
      start_activity(chains[n].activities[stage], FLICK_INPUT_PUSHED);
    begin_chain(n);
  }
  for (uint64_t ended = 0; ended < count;) {
    uint64_t message[WORDS], label;
    uint64_t slot = receive(gate, message, &label);
    ended += attend(message, slot, label);
  }
  for (uint64_t n = 0; n < count; n++)
    wait_for(&chains[n]);
  print_measured(count, size / BLOCK, repetition);
  for (uint64_t n = 0; n < count; n++)
    end_chain(&chains[n], drivers[n].written, size);
  good(flick_capability_revoke(gate), "capability_revoke");
}

int main(int argc, char **argv) {
  if (argc != 5)
    return 2;
  uint64_t step = number(argv[1]), repetitions = number(argv[4]);
  size = number(argv[2]) * BLOCK;
  buffers = number(argv[3]);
  make_pattern();
  puts(HEADER);
  for (uint64_t n = 0; n < MOST_CHAINS; n++)
    make_files(&chains[n], size, size);
  for (uint64_t count = 1; count <= MOST_CHAINS; count += step)
    for (uint64_t n = 0; n < repetitions; n++)
      run(count, n);
  return 0;
}
