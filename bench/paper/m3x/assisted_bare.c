/* The image chain of M3x (ATC 2019, section 7.6), assisted, by a core that has its bank of the unit
 * to itself, as programs of M3x have: no call of a kernel is in the way. The program is the root of
 * the machine, too, and sets all units up before it measures.
 *
 * It has no arguments: STEP, BLOCKS, BUFFERS and REPETITIONS (see assisted.c) are set when it is
 * compiled, and so are the numbers of tiles: FFT_TILE, MUL_TILE, IFFT_TILE of the first chain, and
 * DRAM_TILE. With FILES the program reads and writes both files, as by `read` and `write` of a
 * library: the last stage puts its result into memory of the program. docs/dtu.md and
 * docs/accelerators.md have the other numbers. */
#include "assisted_driver.h"
#include "bare.h"

/* The core's endpoints: for messages to it, and for each chain. */
enum {
  GATE = 2,
  INPUTS = 8,
  INTO = INPUTS + MOST_CHAINS,
  OUTPUTS = INTO + MOST_CHAINS,
  SENDERS = OUTPUTS + MOST_CHAINS
};
enum { SLOTS = 32, SLOT = 256, LOG2_SLOT = 8 };

static const uint64_t tiles[STAGES] = {FFT_TILE, MUL_TILE, IFFT_TILE};
#ifndef FILES
#define FILES 0
#endif
/* Where the files of a chain are in the memory. */
enum { APART = 16 << 20, OUTPUT = 8 << 20 };

static char slots[SLOTS][SLOT] __attribute__((aligned(SLOT)));
static char block[BLOCK] __attribute__((aligned(64)));
static char results[MOST_CHAINS][BLOCK] __attribute__((aligned(64)));
static float image[BLOCK / 4], filter[BLOCK / 4];
static void send_to(struct stage *stage, const uint64_t message[3], uint64_t label) {
  *unit(FLICK_DTU_LABEL) = label;
  command(FLICK_DTU_COMMAND_WORD(FLICK_DTU_SEND, stage->sender, GATE, 0), message, 24);
}

static void answer_with(uint64_t slot, const uint64_t answer[3]) {
  command(FLICK_DTU_COMMAND_WORD(FLICK_DTU_REPLY, GATE, 0xffff, slot), answer, 24);
}

/* An open file, as a library has it: calls check and move its position within a piece. */
struct file {
  uint64_t position, piece_end, endpoint;
};
static struct file inputs[MOST_CHAINS], outputs[MOST_CHAINS];

__attribute__((noinline)) static uint64_t move_file(struct file *file, uint64_t how, char *data,
                                                    uint64_t bytes) {
  uint64_t rest = file->piece_end - file->position;
  bytes = bytes < rest ? bytes : rest;
  copy(how, file->endpoint, data, bytes, file->position);
  file->position += bytes;
  return bytes;
}

static void load_block(uint64_t number, uint64_t offset, uint64_t at, uint64_t bytes) {
  if (!FILES)
    copy(FLICK_DTU_READ, INPUTS + number, block, bytes, at);
  else if (move_file(&inputs[number], FLICK_DTU_READ, block, bytes) != bytes)
    fail("the input ends: ", bytes);
  copy(FLICK_DTU_WRITE, INTO + number, block, bytes, offset);
}

static uint64_t output_place(uint64_t at) { return FILES ? 0 : at; }

static void keep_block(uint64_t number, uint64_t at, uint64_t bytes) {
  (void)at;
  if (FILES && move_file(&outputs[number], FLICK_DTU_WRITE, results[number], bytes) != bytes)
    fail("the output ends: ", bytes);
}

/* Both files of a chain, in the memory; the first one is the same block again and again. */
static void make_files(uint64_t number) {
  set_own(MEMORY, REACH | READS | WRITES, DRAM_TILE, number * APART, APART);
  for (uint64_t at = 0; at < size; at += BLOCK)
    copy(FLICK_DTU_WRITE, MEMORY, image, BLOCK, at);
  set_own(INPUTS + number, REACH | READS, DRAM_TILE, number * APART, size);
}

static void start(uint64_t number) {
  struct driver *driver = &drivers[number];
  *driver = (struct driver){0};
  for (uint64_t n = FFT; n < STAGES; n++) {
    uint64_t tile = tiles[n] + number, next = n < IFFT ? tiles[n + 1] + number : DRAM_TILE;
    set_module(tile);
    set(tile, OUTPUT_REQUESTS, SEND, 0 | GATE << 16 | (uint64_t)ROOT << 32, number << 8 | n,
        1 | 1 << 16 | (uint64_t)LOG2_SMALL << 32);
    if (n < IFFT)
      set(tile, OUTPUT_DATA, REACH | WRITES, next, 0, BUFFERS * BLOCK);
    else if (FILES)
      set(tile, OUTPUT_DATA, REACH | WRITES, 0, (uint64_t)results[number], BLOCK);
    else
      set(tile, OUTPUT_DATA, REACH | WRITES, next, number * APART + OUTPUT, size);
    driver->stages[n].sender = SENDERS + STAGES * number + n;
    set_sender(driver->stages[n].sender, tile, REQUESTS, activity, LOG2_SMALL);
  }
  set_own(MEMORY, REACH | WRITES, tiles[MUL] + number, 0, (BUFFERS + 1) * BLOCK);
  copy(FLICK_DTU_WRITE, MEMORY, filter, BLOCK, BUFFERS * BLOCK);
  set_own(OUTPUTS + number, REACH | WRITES, DRAM_TILE, number * APART + OUTPUT, size);
  inputs[number] = (struct file){0, size, INPUTS + number};
  outputs[number] = (struct file){0, size, OUTPUTS + number};
  set_own(INTO + number, REACH | WRITES, tiles[FFT] + number, 0, BUFFERS * BLOCK);
}

/* Looks at the last block of the image. */
static void check(uint64_t number) {
  if (drivers[number].written != size)
    fail("bytes that were written: ", drivers[number].written);
  set_own(MEMORY, REACH | READS, DRAM_TILE, number * APART + OUTPUT, size);
  copy(FLICK_DTU_READ, MEMORY, block, BLOCK, size - BLOCK);
  const volatile float *result = (const volatile float *)block;
  for (uint64_t n = 0; n < BLOCK / 4; n++) {
    float error = result[n] - 2 * image[n];
    if (error > 0.01f || error < -0.01f)
      fail("a point is wrong: ", n);
  }
}

static void run(uint64_t count, uint64_t repetition) {
  for (uint64_t n = 0; n < count; n++)
    start(n);
  uint64_t waited = 0, messages = 0, began = ticks(), cycled = cycles();
  for (uint64_t n = 0; n < count; n++) {
    for (int stage = IFFT; stage >= FFT; stage--) {
      set_accelerator(tiles[stage] + n, INPUT, PUSHED);
      set_accelerator(tiles[stage] + n, CONTROL, START);
    }
    begin_chain(n);
  }
  for (uint64_t ended = 0; ended < count; messages++) {
    if (!*unit(FLICK_DTU_EVENTS)) {
      uint64_t before = cycles();
      while (!*unit(FLICK_DTU_EVENTS))
        __asm__ volatile("wfi");
      waited += cycles() - before;
    }
    uint64_t at = command(FLICK_DTU_COMMAND_WORD(FLICK_DTU_FETCH, GATE, 0xffff, 0), 0, 0);
    const struct flick_dtu_header *header = (const void *)at;
    const uint64_t *words = (const void *)(header + 1);
    /* With its answer the slot is free for another one. */
    const uint64_t message[WORDS] = {words[0], words[1], words[2]};
    uint64_t slot = (at - (uint64_t)slots) / SLOT, label = header->label;
    ended += (uint64_t)attend(message, slot, label);
    if (label & ANSWER)
      execute(FLICK_DTU_COMMAND_WORD(FLICK_DTU_ACKNOWLEDGE, GATE, 0xffff, slot));
  }
  uint64_t took = ticks() - began;
  cycled = cycles() - cycled;
  const uint64_t values[] = {count, size / BLOCK, repetition, took, cycled, waited, messages};
  for (int n = 0; n < 7; n++) {
    print_number(values[n]);
    print(n < 6 ? "," : "\n");
  }
  for (uint64_t n = 0; n < count; n++) {
    for (int stage = FFT; stage < STAGES; stage++)
      while (status(tiles[stage] + n) != ENDED)
        ;
    check(n);
  }
  /* A new one for each run. */
  activity++;
}

void bare_main(void) {
  /* Other tiles with cores begin here, too. */
  while (*unit(FLICK_DTU_IDENTITY) >> 48)
    __asm__ volatile("wfi");
  size = BLOCKS * (uint64_t)BLOCK;
  *unit(FLICK_DTU_CURRENT(0)) = ROOT;
  *unit(FLICK_DTU_INTERRUPT) = 1 << GATE;
  __asm__ volatile("csrw mie, %0" ::"r"(1 << 16));
  set_own(GATE, MESSAGE, (uint64_t)slots, LOG2_SLOT | SLOTS << 8, 0);
  for (uint64_t n = 0; n < BLOCK / 4; n++)
    image[n] = (float)(n * 31 % 255);
  for (uint64_t n = 0; n < BLOCK / 4; n += 2)
    filter[n] = 2;
  for (uint64_t n = 0; n < MOST_CHAINS; n++)
    make_files(n);
  print("chains,blocks,repetition,ticks,cycles,waited,requests\n");
  for (uint64_t count = 1; count <= MOST_CHAINS; count += STEP)
    for (uint64_t n = 0; n < REPETITIONS; n++)
      run(count, n);
  end(0x5555);
}
