// An accelerator writes a large block by a slow link while the memory that it writes to is revoked,
// and taken again: nothing of the block comes there any more. The same when the accelerator is
// revoked, and when its program has ended.
#include <flick/card.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 32 << 10 };

static uint64_t words[BLOCK / 8];

static uint64_t good(int64_t outcome, const char *what) {
  if (outcome < 0) {
    printf("%s fails: %ld\n", what, (long)outcome);
    exit(1);
  }
  return outcome;
}

static uint64_t tile_of(const char *name) {
  uint64_t endpoints;
  return good(flick_tile_find((uint64_t)name, strlen(name), 0, &endpoints), name);
}

// Words that are not 0.
static int count(uint64_t memory) {
  int found = 0;
  memset(words, 0, sizeof words);
  good(flick_tile_load(memory, 0, (uint64_t)words, BLOCK), "tile_load");
  for (int n = 0; n < BLOCK / 8; n++)
    found += words[n] != 0;
  return found;
}

// An accelerator that asks for input, and answers it. -1: its tile does not answer.
static int64_t begin(uint64_t gate, uint64_t from, uint64_t to) {
  uint64_t writer = good(flick_activity_create(tile_of("copy")), "activity_create");
  uint64_t sender = good(flick_gate_sender(gate, 1, 2), "gate_sender");
  good(flick_activity_endpoint(writer, FLICK_INPUT_REQUESTS, sender), "activity_endpoint");
  good(flick_activity_endpoint(writer, FLICK_OUTPUT_REQUESTS, sender), "activity_endpoint");
  good(flick_activity_endpoint(writer, FLICK_INPUT_DATA, from), "activity_endpoint");
  good(flick_activity_endpoint(writer, FLICK_OUTPUT_DATA, to), "activity_endpoint");
  good(flick_activity_start(writer, FLICK_INPUT_ASKED), "activity_start");
  for (int n = 0; n < 2; n++) {
    uint64_t request[15], label, answer[3] = {0, 0, BLOCK};
    uint64_t until = flick_time() + flick_program.frequency / 100;
    int64_t taken = flick_gate_receive(gate, (uint64_t)request, until, &label);
    if (taken < 0) {
      good(flick_capability_revoke(writer), "capability_revoke");
      return -1;
    }
    good(flick_gate_answer(gate, taken & 0xff, (uint64_t)answer, sizeof answer), "gate_answer");
  }
  return writer;
}

// Lets the accelerator write to the memory, and returns when some of it is there.
static uint64_t write_to(uint64_t gate, uint64_t from, uint64_t to) {
  int64_t writer;
  do
    writer = begin(gate, from, to);
  while (writer < 0);
  while (count(to) == 0)
    ;
  return writer;
}

// The writer's memory is a view, which is moved while it writes. Nothing comes to the old range any
// more, and the whole block comes to the new one.
static void move_view(uint64_t gate, uint64_t from, uint64_t dram) {
  uint64_t both = good(flick_tile_memory(dram, 2 * BLOCK), "tile_memory");
  uint64_t view = good(flick_view_create(both), "view_create");
  good(flick_view_set(view, 0, BLOCK, FLICK_READ | FLICK_WRITE), "view_set");
  uint64_t writer = write_to(gate, from, view);
  good(flick_view_set(view, BLOCK, BLOCK, FLICK_READ | FLICK_WRITE), "view_set");
  memset(words, 0, sizeof words);
  good(flick_tile_store(both, 0, (uint64_t)words, BLOCK), "tile_store");
  flick_thread_sleep(flick_time() + flick_program.frequency / 50);
  printf("words of what a view showed: %d\n", count(both));
  printf("the whole block is in what it shows: %d\n", count(view) == BLOCK / 8);
  good(flick_capability_revoke(writer), "capability_revoke");
}

int main(int argc, char **argv) {
  uint64_t endpoints, dram = good(flick_tile_find(0, 0, 0, &endpoints), "tile_find");
  uint64_t gate = good(flick_gate_create(), "gate_create");
  uint64_t from = good(flick_tile_memory(dram, BLOCK), "tile_memory");
  memset(words, 0x5a, sizeof words);
  good(flick_tile_store(from, 0, (uint64_t)words, BLOCK), "tile_store");
  if (argc > 1 && !strcmp(argv[1], "view")) {
    move_view(gate, from, dram);
    return 0;
  }
  for (int revokes_memory = 0; revokes_memory < 2; revokes_memory++) {
    uint64_t to = good(flick_tile_memory(dram, BLOCK), "tile_memory");
    uint64_t writer = write_to(gate, from, to);
    if (!revokes_memory)
      good(flick_capability_revoke(writer), "capability_revoke");
    good(flick_capability_revoke(to), "capability_revoke");
    uint64_t again = good(flick_tile_memory(dram, BLOCK), "tile_memory");
    // As long as the rest of the block would take.
    flick_thread_sleep(flick_time() + flick_program.frequency / 100);
    printf("words of what was revoked: %d\n", count(again));
    uint64_t fault;
    int64_t status =
        revokes_memory
            ? flick_activity_wait(writer, flick_time() + flick_program.frequency / 50, &fault)
            : 0;
    if (revokes_memory)
      printf("the writer ends with status %ld, error %lu\n", (long)status, (unsigned long)fault);
    good(flick_capability_revoke(again), "capability_revoke");
    if (revokes_memory)
      good(flick_capability_revoke(writer), "capability_revoke");
  }
  return 0;
}
