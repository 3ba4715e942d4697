// Several chains share three accelerators: activities take turns, and messages and data for those
// without a turn are forwarded. Each chain has its own files and its own filter, so that data of
// another one would show.
#include <flick/card.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 2048, BLOCKS = 40, IMAGE = BLOCKS * BLOCK, PIECE = 8 * BLOCK, COPY = 64 << 10 };
enum { MOST_CHAINS = 8, WRITES = 1000 };

static float image[IMAGE / 4], result[IMAGE / 4], filter[BLOCK / 4];

struct chain {
  uint64_t from, to, fft, mul, ifft;
  uint64_t read, written, granted, has_ended;
};

static struct chain chains[MOST_CHAINS];
// Activities may move to other tiles of their kinds, or those of a chain are a group.
static int moves, groups;

// A call that has to succeed.
static uint64_t good(int64_t outcome, const char *what) {
  if (outcome < 0) {
    printf("%s fails: %s\n", what, strerror(flick_errno(outcome)));
    exit(1);
  }
  return (uint64_t)outcome;
}

static uint64_t tile_of(const char *name) {
  uint64_t endpoints;
  return good(flick_tile_find((uint64_t)name, strlen(name), 0, &endpoints), name);
}

static void copy_in(uint64_t memory, uint64_t at, const void *data, uint64_t size) {
  for (uint64_t done = 0; done < size; done += COPY) {
    uint64_t part = size - done < COPY ? size - done : COPY;
    good(flick_tile_store(memory, at + done, (uint64_t)data + done, part), "tile_store");
  }
}

static void copy_out(uint64_t memory, void *data, uint64_t size) {
  for (uint64_t at = 0; at < size; at += COPY) {
    uint64_t part = size - at < COPY ? size - at : COPY;
    good(flick_tile_load(memory, at, (uint64_t)data + at, part), "tile_load");
  }
}

static void connect(uint64_t of, uint64_t endpoint, uint64_t to) {
  good(flick_activity_endpoint(of, endpoint, to), "activity_endpoint");
}

// What reaches the local memory and the gate of the next accelerator.
static void connect_to(uint64_t of, uint64_t next) {
  uint64_t gate = good(flick_activity_gate(next), "activity_gate");
  uint64_t memory = good(flick_activity_memory(next), "activity_memory");
  connect(of, FLICK_OUTPUT_REQUESTS, good(flick_gate_sender(gate, 0, 1), "gate_sender"));
  connect(of, FLICK_OUTPUT_DATA,
          good(flick_capability_narrow(memory, 0, BLOCK, FLICK_WRITE), "capability_narrow"));
}

static float point(unsigned chain, unsigned n) { return (n * 31 + chain * 7) % 255; }

static void begin(unsigned n, uint64_t dram, uint64_t gate) {
  struct chain *chain = &chains[n];
  for (unsigned at = 0; at < IMAGE / 4; at++)
    image[at] = point(n, at);
  for (unsigned at = 0; at < BLOCK / 4; at += 2)
    filter[at] = (float)(n + 1);
  chain->from = good(flick_tile_memory(dram, IMAGE), "tile_memory");
  chain->to = good(flick_tile_memory(dram, IMAGE), "tile_memory");
  copy_in(chain->from, 0, image, IMAGE);
  chain->fft = good(flick_activity_create(tile_of("fft")), "activity_create");
  chain->mul = good(flick_activity_create(tile_of("mul")), "activity_create");
  chain->ifft = good(flick_activity_create(tile_of("ifft")), "activity_create");
  uint64_t into_mul = good(flick_activity_memory(chain->mul), "activity_memory");
  copy_in(into_mul, BLOCK, filter, BLOCK);
  connect(chain->fft, FLICK_INPUT_REQUESTS, good(flick_gate_sender(gate, n, 1), "gate_sender"));
  connect(chain->fft, FLICK_INPUT_DATA,
          good(flick_capability_narrow(chain->from, 0, IMAGE, FLICK_READ), "capability_narrow"));
  connect_to(chain->fft, chain->mul);
  connect_to(chain->mul, chain->ifft);
  connect(chain->ifft, FLICK_OUTPUT_REQUESTS,
          good(flick_gate_sender(gate, WRITES + n, 1), "gate_sender"));
  connect(chain->ifft, FLICK_OUTPUT_DATA,
          good(flick_capability_narrow(chain->to, 0, IMAGE, FLICK_WRITE), "capability_narrow"));
  uint64_t activities[] = {chain->fft, chain->mul, chain->ifft};
  for (int stage = 0; moves && stage < 3; stage++)
    good(flick_activity_move(activities[stage], 1), "activity_move");
  uint64_t group = groups ? good(flick_group_create(), "group_create") : 0;
  for (int stage = 0; groups && stage < 3; stage++)
    good(flick_group_join(group, activities[stage]), "group_join");
  // In any order: a message for an activity that has not begun is kept for it.
  good(flick_activity_start(chain->fft, FLICK_INPUT_ASKED), "activity_start");
  good(flick_activity_start(chain->mul, FLICK_INPUT_PUSHED), "activity_start");
  good(flick_activity_start(chain->ifft, FLICK_INPUT_PUSHED), "activity_start");
}

// Serves one request for a piece of a file.
static void serve(uint64_t gate) {
  uint64_t request[15], label, answer[3] = {0, 0, 0};
  uint64_t taken =
      good(flick_gate_receive(gate, (uint64_t)request, FLICK_FOR_EVER, &label), "gate_receive");
  struct chain *chain = &chains[label % WRITES % MOST_CHAINS];
  if (label < WRITES && request[0] == FLICK_FILE_NEXT_IN) {
    answer[1] = chain->read;
    answer[2] = IMAGE - chain->read < PIECE ? IMAGE - chain->read : PIECE;
    chain->read += answer[2];
  } else if (label >= WRITES && request[0] == FLICK_FILE_NEXT_OUT) {
    chain->written += chain->granted;
    answer[1] = chain->written;
    answer[2] = chain->granted = IMAGE - chain->written < PIECE ? IMAGE - chain->written : PIECE;
    if (!answer[2]) {
      // One more piece than the image has, which nobody writes.
      answer[1] = 0;
      answer[2] = BLOCK;
    }
  } else if (label >= WRITES && request[0] == FLICK_FILE_COMMIT) {
    chain->written += request[1];
  } else if (label >= WRITES && request[0] == FLICK_FILE_END) {
    chain->has_ended = 1;
  } else {
    printf("unknown request %lu of %lu\n", (unsigned long)request[0], (unsigned long)label);
    exit(1);
  }
  good(flick_gate_answer(gate, taken & 0xff, (uint64_t)answer, sizeof answer), "gate_answer");
}

static void wait_for(uint64_t of, const char *name) {
  uint64_t fault;
  uint64_t status = good(flick_activity_wait(of, FLICK_FOR_EVER, &fault), "activity_wait");
  if (status != 3 || fault)
    printf("%s ends with status %lu, error %lu\n", name, (unsigned long)status,
           (unsigned long)fault);
}

int main(int count, char **arguments) {
  unsigned number = count > 1 ? (unsigned)atoi(arguments[1]) : 4;
  moves = count > 2 && !strcmp(arguments[2], "move");
  groups = count > 2 && !strcmp(arguments[2], "group");
  uint64_t dram = tile_of("");
  uint64_t gate = good(flick_gate_create(), "gate_create");
  uint64_t forwarded, before;
  uint64_t turns = good(flick_accelerator_turns(&before), "accelerator_turns");
  for (unsigned n = 0; n < number; n++)
    begin(n, dram, gate);
  uint64_t begun = flick_time();
  for (unsigned n = 0; n < number; n++)
    while (!chains[n].has_ended)
      serve(gate);
  uint64_t took = flick_time() - begun;
  unsigned long wrong = 0, blocks = 0;
  for (unsigned n = 0; n < number; n++) {
    wait_for(chains[n].fft, "fft");
    wait_for(chains[n].mul, "mul");
    wait_for(chains[n].ifft, "ifft");
    uint64_t done;
    good(flick_activity_state(chains[n].mul, &done), "activity_state");
    blocks += done;
    copy_out(chains[n].to, result, IMAGE);
    for (unsigned at = 0; at < IMAGE / 4; at++) {
      float error = result[at] - (float)(n + 1) * point(n, at);
      wrong += error > 0.02f || error < -0.02f;
    }
  }
  turns = good(flick_accelerator_turns(&forwarded), "accelerator_turns") - turns;
  printf("chains: %u\npoints that are wrong: %lu\nblocks of mul: %lu\n", number, wrong, blocks);
  printf("turns: %s\n", turns > 3 * number ? "more than one each" : "one each");
  if (count > 2)
    printf("%lu turns, %lu forwarded, %lu ticks\n", (unsigned long)turns,
           (unsigned long)(forwarded - before), (unsigned long)took);

  // An activity without a turn is revoked, and one that has its turn. Others go on.
  uint64_t first = good(flick_activity_create(tile_of("fft")), "activity_create");
  uint64_t second = good(flick_activity_create(tile_of("fft")), "activity_create");
  uint64_t third = good(flick_activity_create(tile_of("fft")), "activity_create");
  good(flick_activity_start(first, FLICK_INPUT_PUSHED), "activity_start");
  good(flick_activity_start(second, FLICK_INPUT_ASKED), "activity_start");
  good(flick_activity_start(third, FLICK_INPUT_ASKED), "activity_start");
  good(flick_capability_revoke(second), "capability_revoke");
  good(flick_capability_revoke(first), "capability_revoke");
  // It asks by an endpoint that nobody has set up.
  uint64_t fault;
  uint64_t status = good(flick_activity_wait(third, FLICK_FOR_EVER, &fault), "activity_wait");
  printf("the third ends with status %lu, error %lu\n", (unsigned long)status,
         (unsigned long)fault);
  return 0;
}
