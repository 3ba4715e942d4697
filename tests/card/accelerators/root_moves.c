// Activities move to free tiles of their kind: those that wait for a tile, and neighbours on one
// tile that talk. Messages, data and copies find them.
#include <flick/card.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 2048, BLOCKS = 24, SIZE = BLOCKS * BLOCK, OUT = 1000, NOBODY = 12345 };

static char data[SIZE], result[SIZE];
static uint64_t gate, dram, fft;
static int wrong;

static void expect(int64_t outcome, int64_t wanted, const char *what) {
  if (outcome == wanted)
    return;
  printf("%s: %ld in place of %ld\n", what, (long)outcome, (long)wanted);
  wrong++;
}

static uint64_t good(int64_t outcome, const char *what) {
  if (outcome >= 0)
    return (uint64_t)outcome;
  printf("%s fails: %s\n", what, strerror(flick_errno(outcome)));
  exit(1);
}

static uint64_t tile_of(const char *name) {
  uint64_t endpoints;
  return good(flick_tile_find((uint64_t)name, strlen(name), 0, &endpoints), name);
}

struct stream {
  uint64_t activity, memory, out, read, written, granted, has_ended;
};

static struct stream streams[4];

static void connect(uint64_t of, uint64_t endpoint, uint64_t to) {
  good(flick_activity_endpoint(of, endpoint, to), "activity_endpoint");
}

static uint64_t sender(uint64_t to, uint64_t label) {
  return good(flick_gate_sender(to, label, 1), "gate_sender");
}

static uint64_t activity(int may_move) {
  uint64_t made = good(flick_activity_create(fft), "activity_create");
  if (may_move)
    expect(flick_activity_move(made, 1), (int64_t)fft, "its tile at first");
  return made;
}

// A stream from memory, and to memory.
static void from_memory(unsigned n, uint64_t of) {
  streams[n] = (struct stream){.activity = of};
  streams[n].memory = good(flick_tile_memory(dram, SIZE), "tile_memory");
  good(flick_tile_store(streams[n].memory, 0, (uint64_t)data, SIZE), "tile_store");
  connect(of, FLICK_INPUT_REQUESTS, sender(gate, n));
  connect(of, FLICK_INPUT_DATA, streams[n].memory);
}

static void to_memory(unsigned n, uint64_t of) {
  streams[n].out = good(flick_tile_memory(dram, SIZE + BLOCK), "tile_memory");
  connect(of, FLICK_OUTPUT_REQUESTS, sender(gate, OUT + n));
  connect(of, FLICK_OUTPUT_DATA, streams[n].out);
}

static void start(uint64_t of, uint64_t input) {
  good(flick_activity_start(of, input), "activity_start");
}

static void serve(void) {
  uint64_t request[15], label, answer[3] = {0};
  uint64_t slot =
      good(flick_gate_receive(gate, (uint64_t)request, FLICK_FOR_EVER, &label), "gate_receive") &
      0xff;
  struct stream *stream = &streams[label % OUT];
  if (request[0] == FLICK_FILE_NEXT_IN) {
    answer[1] = stream->read;
    answer[2] = SIZE - stream->read < 3 * BLOCK ? SIZE - stream->read : 3 * BLOCK;
    stream->read += answer[2];
  } else if (request[0] == FLICK_FILE_NEXT_OUT) {
    stream->written += stream->granted;
    answer[1] = stream->written;
    answer[2] = stream->granted = SIZE - stream->written < BLOCK ? BLOCK : SIZE - stream->written;
  } else if (request[0] == FLICK_FILE_COMMIT) {
    stream->written += request[1];
  } else {
    stream->has_ended = 1;
  }
  good(flick_gate_answer(gate, slot, (uint64_t)answer, sizeof answer), "gate_answer");
}

static uint64_t run(unsigned count) {
  uint64_t begun = flick_time();
  for (unsigned n = 0; n < count; n++)
    while (!streams[n].has_ended)
      serve();
  return flick_time() - begun;
}

static uint64_t sum_of(unsigned n) {
  uint64_t sum = 0;
  good(flick_tile_load(streams[n].out, 0, (uint64_t)result, SIZE), "tile_load");
  for (int at = 0; at < SIZE; at += 4) {
    uint32_t word;
    memcpy(&word, result + at, 4);
    sum = sum * 31 + word;
  }
  return sum;
}

static void end(uint64_t of) {
  uint64_t fault;
  expect(flick_activity_wait(of, FLICK_FOR_EVER, &fault), 3, "its status");
  expect((int64_t)fault, 0, "its error");
  good(flick_capability_revoke(of), "capability_revoke");
}

// Two streams on one tile, which may move or not: the time.
static uint64_t two(int may_move, uint64_t sums[2], uint64_t tiles[2]) {
  uint64_t both[2];
  for (unsigned n = 0; n < 2; n++) {
    both[n] = activity(may_move);
    from_memory(n, both[n]);
    to_memory(n, both[n]);
  }
  for (unsigned n = 0; n < 2; n++)
    start(both[n], FLICK_INPUT_ASKED);
  uint64_t took = run(2);
  for (unsigned n = 0; n < 2; n++) {
    sums[n] = sum_of(n);
    tiles[n] = good(flick_activity_move(both[n], (uint64_t)may_move), "activity_move");
    end(both[n]);
    good(flick_capability_revoke(streams[n].memory), "capability_revoke");
    good(flick_capability_revoke(streams[n].out), "capability_revoke");
  }
  return took;
}

// Two neighbours of a chain on one tile: the time, and the tile of the second one.
static uint64_t chain(int may_move, uint64_t *sum, uint64_t *tile) {
  uint64_t first = activity(may_move), second = activity(may_move);
  from_memory(0, first);
  uint64_t memory = good(flick_activity_memory(second), "activity_memory");
  uint64_t to = good(flick_activity_gate(second), "activity_gate");
  connect(first, FLICK_OUTPUT_REQUESTS, sender(to, 0));
  connect(first, FLICK_OUTPUT_DATA,
          good(flick_capability_narrow(memory, 0, BLOCK, FLICK_WRITE), "capability_narrow"));
  to_memory(0, second);
  start(first, FLICK_INPUT_ASKED);
  start(second, FLICK_INPUT_PUSHED);
  uint64_t took = run(1);
  *sum = sum_of(0);
  *tile = good(flick_activity_move(second, (uint64_t)may_move), "activity_move");
  // Its local memory is where it is.
  good(flick_tile_load(memory, 0, (uint64_t)result, BLOCK), "tile_load");
  expect(memcmp(result, data, BLOCK) != 0, 1, "its last block");
  end(first);
  end(second);
  good(flick_capability_revoke(streams[0].memory), "capability_revoke");
  good(flick_capability_revoke(streams[0].out), "capability_revoke");
  return took;
}

int main(void) {
  dram = tile_of("");
  fft = tile_of("fft");
  gate = good(flick_gate_create(), "gate_create");
  for (int n = 0; n < SIZE; n += 4) {
    float number = (float)(n * 37 % 1009);
    memcpy(data + n, &number, 4);
  }
  uint64_t still[2], moved[2], tiles[2];
  uint64_t alone = two(0, still, tiles);
  expect((int64_t)tiles[1], (int64_t)fft, "the tile of one that may not move");
  uint64_t apart = two(1, moved, tiles);
  expect(tiles[0] != tiles[1], 1, "both tiles are used");
  expect(still[0] == moved[0] && still[1] == moved[1], 1, "the same results");
  expect(apart * 10 < alone * 6, 1, "the time of two tiles");

  uint64_t tile;
  alone = chain(0, &still[0], &tile);
  expect((int64_t)tile, (int64_t)fft, "the tile of a neighbour that may not move");
  apart = chain(1, &moved[0], &tile);
  expect(tile != fft, 1, "a neighbour moves");
  expect(still[0] == moved[0], 1, "the same result of a chain");
  expect(apart * 10 < alone * 8, 1, "the time of neighbours on two tiles");

  // What others must not do.
  uint64_t mine = activity(1);
  expect(flick_activity_move(mine, 2), -FLICK_EINVAL, "neither yes nor no");
  expect(flick_activity_move(gate, 1), -FLICK_EINVAL, "a gate moves");
  expect(flick_activity_move(NOBODY, 1), -FLICK_ENOENT, "nobody moves");

  // Copies from and to the local memory of one that has moved, with its turn and without one.
  uint64_t other = activity(1), memory = good(flick_activity_memory(mine), "activity_memory");
  for (int round = 0; round < 2; round++) {
    good(flick_tile_store(memory, BLOCK, (uint64_t)data + round * BLOCK, BLOCK), "tile_store");
    good(flick_tile_load(memory, BLOCK, (uint64_t)result, BLOCK), "tile_load");
    expect(memcmp(result, data + round * BLOCK, BLOCK), 0, "a copy");
    if (!round) {
      start(other, FLICK_INPUT_PUSHED);
      start(mine, FLICK_INPUT_PUSHED);
    }
  }
  expect(flick_activity_move(mine, 1) != flick_activity_move(other, 1), 1, "they are apart");
  expect(flick_capability_revoke(mine), 0, "the end of one that has moved");
  expect(flick_tile_load(memory, 0, (uint64_t)result, BLOCK), -FLICK_ENOENT, "its memory");
  good(flick_capability_revoke(other), "capability_revoke");
  // Both tiles are free again.
  expect(two(1, moved, tiles) <= apart * 2, 1, "the next ones");
  expect(still[0] != moved[0], 1, "other results");
  printf("checks that fail: %d\n", wrong);
  return wrong != 0;
}
