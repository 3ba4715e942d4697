/* What the programs of the image chains share: the tiles of a machine, files in its memory, and
 * chains of accelerators (FFT, MUL, IFFT) for them. */
#ifndef CHAINS_H
#define CHAINS_H

#include "calls.h"
#include "stages.h"

enum { COPY = 64 << 10 };

/* A chain between two files, which are memory of the tile of memory. */
struct chain {
  uint64_t activities[STAGES];
  uint64_t input, output;
};

static float pattern[COPY / 4], read_back[BLOCK / 4];

/* The tile of this name with so many before it. */
static uint64_t tile_of(const char *name, int before) {
  uint64_t endpoints, tile = 0;
  for (int n = 0; n <= before; n++)
    tile = good(flick_tile_find((uint64_t)name, strlen(name), n ? tile + 1 : 0, &endpoints), name);
  return tile;
}

static uint64_t number(const char *text) { return strtoull(text, 0, 10); }

/* The image: the same numbers again and again. A filter of 2 doubles them. */
static void make_pattern(void) {
  for (uint64_t n = 0; n < COPY / 4; n++)
    pattern[n] = n * 31 % 255;
}

static void make_files(struct chain *chain, uint64_t size, uint64_t room) {
  uint64_t dram = tile_of("", 0);
  chain->input = good(flick_tile_memory(dram, size), "tile_memory");
  chain->output = good(flick_tile_memory(dram, room), "tile_memory");
  for (uint64_t at = 0; at < size; at += COPY)
    good(flick_tile_store(chain->input, at, (uint64_t)pattern, size - at < COPY ? size - at : COPY),
         "tile_store");
}

static const char *const names[STAGES] = {"fft", "mul", "ifft"};

/* New activities: their tiles have one at a time, which may not have come to its end yet. */
static void make_activities(struct chain *chain, int number, uint64_t buffers) {
  static float filter[BLOCK / 4];
  for (uint64_t n = 0; n < BLOCK / 4; n += 2)
    filter[n] = 2;
  for (int stage = 0; stage < STAGES; stage++) {
    int64_t made;
    while ((made = flick_activity_create(tile_of(names[stage], number))) == -FLICK_EBUSY)
      ;
    chain->activities[stage] = good(made, "activity_create");
  }
  uint64_t memory = good(flick_activity_memory(chain->activities[MUL]), "activity_memory");
  good(flick_tile_store(memory, buffers * BLOCK, (uint64_t)filter, BLOCK), "tile_store");
}

static void connect(uint64_t activity, uint64_t endpoint, uint64_t to) {
  good(flick_activity_endpoint(activity, endpoint, to), "activity_endpoint");
}

static uint64_t part(uint64_t memory, uint64_t size, uint64_t rights) {
  return good(flick_capability_narrow(memory, 0, size, rights), "capability_narrow");
}

/* A sender to a stage, and its blocks. */
static uint64_t sender_to(const struct chain *chain, int stage) {
  uint64_t gate = good(flick_activity_gate(chain->activities[stage]), "activity_gate");
  return good(flick_gate_sender(gate, 0, 1), "gate_sender");
}
static uint64_t blocks_of(const struct chain *chain, int stage, uint64_t buffers) {
  uint64_t memory = good(flick_activity_memory(chain->activities[stage]), "activity_memory");
  return part(memory, buffers * BLOCK, FLICK_WRITE);
}

/* Looks at some blocks of an image. */
static void check_image(const struct chain *chain, uint64_t size) {
  for (uint64_t at = 0; at < size; at += size / 4 / BLOCK * BLOCK + BLOCK) {
    good(flick_tile_load(chain->output, at, (uint64_t)read_back, BLOCK), "tile_load");
    for (uint64_t n = 0; n < BLOCK / 4; n++) {
      float error = read_back[n] - 2 * pattern[(at % COPY) / 4 + n];
      if (error > 0.01f || error < -0.01f) {
        printf("a point of block %lu is wrong\n", (unsigned long)(at / BLOCK));
        exit(1);
      }
    }
  }
}

/* A chain has written so many bytes of an image. Its activities go. */
static void end_chain(const struct chain *chain, uint64_t written, uint64_t size) {
  if (written != size) {
    printf("%lu bytes were written\n", (unsigned long)written);
    exit(1);
  }
  check_image(chain, size);
  for (int stage = 0; stage < STAGES; stage++)
    good(flick_capability_revoke(chain->activities[stage]), "capability_revoke");
}

/* What a run has taken. The core waits while a call for a message lasts longer than the quickest
 * one, and for the kernel that starts an activity or waits for its end. */
static struct {
  uint64_t began, cycled, received, calls, least, kernel;
} measured;

static void begin_to_measure(void) {
  memset(&measured, 0, sizeof measured);
  measured.least = UINT64_MAX;
  measured.began = flick_time();
  measured.cycled = cycles();
}

/* Takes a message: its slot, and its sender's label. */
static uint64_t receive(uint64_t gate, uint64_t message[WORDS], uint64_t *label) {
  uint64_t before = cycles();
  int64_t taken = flick_gate_receive(gate, (uint64_t)message, FLICK_FOR_EVER, label);
  uint64_t took = cycles() - before;
  measured.received += took;
  measured.calls++;
  measured.least = took < measured.least ? took : measured.least;
  return good(taken, "gate_receive") & 0xff;
}

static void start_activity(uint64_t activity, uint64_t input) {
  uint64_t before = cycles();
  good(flick_activity_start(activity, input), "activity_start");
  measured.kernel += cycles() - before;
}

/* Waits for the ends of all stages. */
static void wait_for(const struct chain *chain) {
  for (int stage = 0; stage < STAGES; stage++) {
    uint64_t fault, status, before = cycles();
    status = good(flick_activity_wait(chain->activities[stage], FLICK_FOR_EVER, &fault),
                  "activity_wait");
    measured.kernel += cycles() - before;
    if (status != 3 || fault) {
      printf("%s ends with status %lu, error %lu\n", names[stage], (unsigned long)status,
             (unsigned long)fault);
      exit(1);
    }
  }
}

static void print_measured(uint64_t chains, uint64_t blocks, uint64_t repetition) {
  uint64_t ticks = flick_time() - measured.began, cycled = cycles() - measured.cycled;
  uint64_t waited = measured.received - measured.calls * measured.least + measured.kernel;
  printf("%lu,%lu,%lu,%lu,%lu,%lu,%lu\n", (unsigned long)chains, (unsigned long)blocks,
         (unsigned long)repetition, (unsigned long)ticks, (unsigned long)cycled,
         (unsigned long)waited, (unsigned long)measured.calls);
}

#define HEADER "chains,blocks,repetition,ticks,cycles,waited,requests"

#endif
