// A hostile accelerator, and hostile programs: outputs of any size, requests of the file protocol
// that are forged, and answers that are. What is hit ends or gets an error. An accelerator beside
// them goes on, and memory of others stays as it is.
#include <flick/card.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 2048, LOCAL = 4096, OTHERS = 4096 };
static const uint64_t edges[] = {0,
                                 1,
                                 7,
                                 BLOCK - 1,
                                 BLOCK,
                                 BLOCK + 1,
                                 LOCAL,
                                 LOCAL + 1,
                                 65536,
                                 1ul << 31,
                                 (1ul << 32) + 8,
                                 1ul << 55,
                                 (1ul << 55) + 256,
                                 1ul << 63,
                                 -4096ul,
                                 -8ul,
                                 -2ul,
                                 -1ul};
enum { EDGES = sizeof edges / sizeof *edges };

static uint64_t gate, reads, writes, dram, others, words[LOCAL / 8];
static int wrong, failures, ends, computes;

static uint64_t good(int64_t outcome, const char *what) {
  if (outcome < 0) {
    printf("%s fails: %ld\n", what, (long)outcome);
    exit(1);
  }
  return outcome;
}

static uint64_t soon(void) { return flick_time() + flick_program.frequency / 1000; }

static uint64_t tile_of(const char *name) {
  uint64_t endpoints;
  return good(flick_tile_find((uint64_t)name, strlen(name), 0, &endpoints), name);
}

static void connect(uint64_t of, uint64_t endpoint, uint64_t to) {
  good(flick_activity_endpoint(of, endpoint, to), "activity_endpoint");
}

static uint64_t sender(uint64_t to, uint64_t label) {
  return good(flick_gate_sender(to, label, 1), "gate_sender");
}

// An activity, as soon as the module of the last one has stopped.
static uint64_t activity(const char *name) {
  int64_t created;
  uint64_t until = flick_time() + flick_program.frequency / 10;
  do
    created = flick_activity_create(tile_of(name));
  while (created == -FLICK_EBUSY && flick_time() < until);
  return good(created, "activity_create");
}

// How an activity has ended.
static void end(uint64_t of) {
  uint64_t fault;
  int64_t status = flick_activity_wait(of, soon(), &fault);
  failures += status == FLICK_STATUS_FAILED;
  ends += status == FLICK_STATUS_ENDED;
  computes += status == -FLICK_ETIMEDOUT;
  good(flick_capability_revoke(of), "capability_revoke");
}

// Memory beside that of the streams is as it was.
static void look_at_others(const char *what, uint64_t n) {
  good(flick_tile_load(others, 0, (uint64_t)words, OTHERS), "tile_load");
  for (uint64_t at = 0; at < OTHERS / 8; at++)
    if (words[at] != at * 0x9e3779b97f4a7c15) {
      printf("%s %lu has changed others' memory\n", what, (unsigned long)n);
      exit(1);
    }
}

// A message, and its slot; -1: none comes.
static int64_t next_request(uint64_t *request, uint64_t *label) {
  int64_t taken = flick_gate_receive(gate, (uint64_t)request, soon(), label);
  return taken < 0 ? -1 : taken & 0xff;
}

static void answer(int64_t slot, uint64_t error, uint64_t offset, uint64_t length) {
  uint64_t words_of[3] = {error, offset, length};
  flick_gate_answer(gate, slot, (uint64_t)words_of, sizeof words_of);
}

// A stream of one block to the gate, whose piece of output is this one.
static uint64_t stream(const char *name, uint64_t from, uint64_t to) {
  uint64_t of = activity(name);
  connect(of, FLICK_INPUT_REQUESTS, reads);
  connect(of, FLICK_INPUT_DATA, from);
  connect(of, FLICK_OUTPUT_REQUESTS, writes);
  connect(of, FLICK_OUTPUT_DATA, to);
  good(flick_activity_start(of, FLICK_INPUT_ASKED), "activity_start");
  return of;
}

// Answers requests until none comes any more: the input is one piece, and so is the output.
static void serve(uint64_t offset, uint64_t length, uint64_t out_offset, uint64_t out_length) {
  uint64_t request[15], label, pieces = 0, asked = 0;
  int64_t slot;
  // A module that asks without end is hostile as well.
  while (asked++ < 200 && (slot = next_request(request, &label)) >= 0) {
    if (label == 1)
      answer(slot, 0, offset, pieces++ == 0 ? length : 0);
    else
      answer(slot, 0, out_offset, request[0] == FLICK_FILE_NEXT_OUT ? out_length : 0);
  }
}

// Answers of any size, with any error, to each request; twice, and for slots without a message.
static void answer_anything(uint64_t from, uint64_t to, uint64_t size, uint64_t error) {
  uint64_t of = stream("obeys", from, to), request[15], label;
  uint64_t words_of[15] = {error, 0, BLOCK, error, error, error, error};
  int64_t slot;
  for (int asked = 0; asked < 8 && (slot = next_request(request, &label)) >= 0; asked++) {
    flick_gate_answer(gate, slot, (uint64_t)words_of, size);
    // There is none in the slot any more, or the next request.
    flick_gate_answer(gate, slot, (uint64_t)words_of, size);
    flick_gate_answer(gate, (slot + 1) % 16, (uint64_t)words_of, size);
  }
  end(of);
}

// The accelerator beside them copies a block.
static void look_at_neighbour(uint64_t from, uint64_t to) {
  uint64_t of = stream("copy", from, to), fault;
  serve(0, BLOCK, 0, BLOCK);
  if (flick_activity_wait(of, soon(), &fault) != FLICK_STATUS_ENDED) {
    printf("the neighbour does not go on\n");
    wrong++;
  }
  good(flick_capability_revoke(of), "capability_revoke");
}

// A child's message to an accelerator by its gate, and the answer's error, or that of the call.
static int64_t forge(uint64_t to, uint64_t operation, uint64_t first, uint64_t second,
                     uint64_t size, uint64_t *piece) {
  uint64_t request[15] = {operation, first, second}, got[15] = {0};
  int64_t outcome = flick_gate_call(to, (uint64_t)request, size, (uint64_t)got, soon());
  piece[0] = got[1];
  piece[1] = got[2];
  return outcome < 0 ? outcome : (int64_t)got[0];
}

// Forged requests to an accelerator whose input others write.
static void forge_all(uint64_t into_file) {
  for (uint64_t n = 0; n < EDGES; n++) {
    for (uint64_t operation = 0; operation < 9; operation++) {
      uint64_t of = activity("obeys"), piece[2], local;
      uint64_t to = sender(good(flick_activity_gate(of), "activity_gate"), 0);
      local = good(flick_activity_memory(of), "activity_memory");
      connect(of, FLICK_OUTPUT_REQUESTS, writes);
      connect(of, FLICK_OUTPUT_DATA, into_file);
      good(flick_activity_start(of, FLICK_INPUT_PUSHED), "activity_start");
      // The block says that it has no output, in one cycle.
      uint64_t block[2] = {0, 1};
      good(flick_tile_store(local, 0, (uint64_t)block, sizeof block), "tile_store");
      uint64_t number = operation < 8 ? operation : edges[n];
      for (uint64_t size = 0; size <= 120; size += 24)
        forge(to, number, edges[n], edges[EDGES - 1 - n], size, piece);
      // It grants parts of its block alone.
      if (forge(to, FLICK_FILE_NEXT_OUT, 0, 0, 24, piece) == 0 &&
          (piece[0] > BLOCK || piece[1] > BLOCK || piece[0] + piece[1] > BLOCK)) {
        printf("operation %lu, %lu: a piece of %lu bytes at %lu\n", (unsigned long)number,
               (unsigned long)edges[n], (unsigned long)piece[1], (unsigned long)piece[0]);
        wrong++;
      }
      forge(to, FLICK_FILE_COMMIT, edges[n], 0, 24, piece);
      forge(to, FLICK_FILE_END, 0, 0, 24, piece);
      serve(0, 0, 0, BLOCK);
      end(of);
      look_at_others("a forged request", n * 9 + operation);
    }
  }
}

static uint64_t next(uint64_t *state) {
  *state ^= *state << 13;
  *state ^= *state >> 7;
  return *state ^= *state << 17;
}

// A size or an offset: often a small one, or one near a limit.
static uint64_t value(uint64_t *state) {
  uint64_t kind = next(state) % 4, n = next(state) >> 8;
  return kind == 0   ? n
         : kind == 1 ? edges[n % EDGES] + (n >> 8) % 17 - 8
         : kind == 2 ? n % (LOCAL + 64)
                     : n % 16 * 128;
}

// One activity with random messages to it: answers to what it asks, and forged requests.
static uint64_t random_round(uint64_t from, uint64_t to, uint64_t *state) {
  uint64_t messages = 0, block[2] = {value(state), 1 + next(state) % 3000};
  int is_pushed = next(state) % 2;
  good(flick_tile_store(from, 0, (uint64_t)block, sizeof block), "tile_store");
  uint64_t of = activity("obeys");
  uint64_t gate_of = sender(good(flick_activity_gate(of), "activity_gate"), 0);
  uint64_t local = good(flick_activity_memory(of), "activity_memory");
  good(flick_tile_store(local, 0, (uint64_t)block, sizeof block), "tile_store");
  connect(of, FLICK_INPUT_REQUESTS, reads);
  connect(of, FLICK_INPUT_DATA, from);
  connect(of, FLICK_OUTPUT_REQUESTS, writes);
  connect(of, FLICK_OUTPUT_DATA, to);
  good(flick_activity_start(of, is_pushed), "activity_start");
  uint64_t rounds = next(state) % 12;
  for (uint64_t n = 0; n < rounds; n++, messages++) {
    uint64_t request[15], label, words_of[15];
    for (int word = 0; word < 15; word++)
      words_of[word] = value(state);
    // Most of them are as they should be, so that the activity goes on.
    uint64_t size = next(state) % 4 ? 24 : next(state) % 16 * 8;
    if (next(state) % 4)
      words_of[0] = is_pushed && next(state) % 2 ? FLICK_FILE_NEXT_OUT : 0;
    if (is_pushed && next(state) % 2) {
      uint64_t got[15], until = flick_time() + next(state) % 100;
      flick_gate_call(gate_of, (uint64_t)words_of, size, (uint64_t)got, until);
      continue;
    }
    uint64_t until = flick_time() + next(state) % 200;
    int64_t taken = flick_gate_receive(gate, (uint64_t)request, until, &label);
    if (taken >= 0)
      flick_gate_answer(gate, taken & 0xff, (uint64_t)words_of, size);
  }
  // It is ended at any moment.
  uint64_t fault;
  int64_t status = flick_activity_wait(of, flick_time() + next(state) % 100, &fault);
  failures += status == FLICK_STATUS_FAILED;
  ends += status == FLICK_STATUS_ENDED;
  computes += status == -FLICK_ETIMEDOUT;
  good(flick_capability_revoke(of), "capability_revoke");
  uint64_t request[15], label;
  int64_t slot;
  while ((slot = flick_gate_receive(gate, (uint64_t)request, 0, &label)) >= 0)
    answer(slot & 0xff, 0, 0, 0);
  return messages;
}

// So many random messages.
static int all_random(uint64_t from, uint64_t to, uint64_t wanted, uint64_t seed) {
  uint64_t state = seed * 2654435761 + 88172645463325252, messages = 0;
  for (uint64_t n = 0; messages < wanted; n++) {
    messages += random_round(from, to, &state);
    if (n % 64 == 0) {
      look_at_others("a random round", n);
      look_at_neighbour(from, to);
    }
  }
  look_at_others("a random round", -1ul);
  int has_all = ends > 0 && failures > 0 && computes > 0;
  printf("%lu random messages, all ends %d, checks that fail: %d\n", (unsigned long)wanted, has_all,
         wrong);
  return wrong != 0;
}

// Arguments: how many random messages, and a seed; or none.
int main(int argc, char **argv) {
  dram = tile_of("");
  gate = good(flick_gate_create(), "gate_create");
  reads = sender(gate, 1);
  writes = sender(gate, 2);
  uint64_t before = good(flick_tile_memory(dram, OTHERS), "tile_memory");
  uint64_t from = good(flick_tile_memory(dram, LOCAL), "tile_memory");
  uint64_t to = good(flick_tile_memory(dram, LOCAL), "tile_memory");
  others = good(flick_tile_memory(dram, OTHERS), "tile_memory");
  (void)before;
  for (uint64_t n = 0; n < OTHERS / 8; n++)
    words[n] = n * 0x9e3779b97f4a7c15;
  good(flick_tile_store(others, 0, (uint64_t)words, OTHERS), "tile_store");

  if (argc > 2)
    return all_random(from, to, strtoul(argv[1], NULL, 0), strtoul(argv[2], NULL, 0));

  // Outputs of any size, after any number of cycles. What takes too long for this test is the last.
  for (uint64_t n = 0; n < EDGES; n++)
    for (uint64_t cycles = 1; cycles <= 1000; cycles *= 10) {
      uint64_t block[2] = {edges[n], cycles};
      good(flick_tile_store(from, 0, (uint64_t)block, sizeof block), "tile_store");
      uint64_t of = stream("obeys", from, to);
      serve(0, BLOCK, 0, LOCAL);
      end(of);
      look_at_others("an output", n);
    }
  printf("outputs: %d end, %d fail, %d neither\n", ends, failures, computes);
  look_at_neighbour(from, to);

  // Pieces of any offset and any length, for input and for output.
  ends = failures = computes = 0;
  uint64_t block[2] = {BLOCK, 1};
  good(flick_tile_store(from, 0, (uint64_t)block, sizeof block), "tile_store");
  for (uint64_t n = 0; n < EDGES; n++)
    for (uint64_t m = 0; m < EDGES; m++) {
      uint64_t of = stream("obeys", from, to);
      serve(edges[n], edges[m], 0, LOCAL);
      end(of);
      look_at_others("a piece of input", n * EDGES + m);
      of = stream("obeys", from, to);
      serve(0, BLOCK, edges[n], edges[m]);
      end(of);
      look_at_others("a piece of output", n * EDGES + m);
    }
  printf("pieces: %d end, %d fail, %d neither\n", ends, failures, computes);
  look_at_neighbour(from, to);

  ends = failures = computes = 0;
  for (uint64_t n = 0; n < EDGES; n++)
    for (uint64_t size = 0; size <= 120; size += 8) {
      answer_anything(from, to, size, edges[n]);
      look_at_others("an answer", n << 8 | size);
    }
  printf("answers: %d end, %d fail, %d neither\n", ends, failures, computes);
  look_at_neighbour(from, to);

  ends = failures = computes = 0;
  forge_all(to);
  printf("forged requests: %d end, %d fail, %d neither\n", ends, failures, computes);
  look_at_neighbour(from, to);

  // Logic that never ends holds its own tile, and nothing else.
  uint64_t endless[2] = {BLOCK, 0xe4d1e55}, fault;
  good(flick_tile_store(from, 0, (uint64_t)endless, sizeof endless), "tile_store");
  uint64_t of = stream("obeys", from, to);
  serve(0, BLOCK, 0, LOCAL);
  printf("endless logic: %ld", (long)flick_activity_wait(of, soon(), &fault));
  printf(", %ld", (long)flick_capability_revoke(of));
  of = stream("obeys", from, to);
  printf(", %ld\n", (long)flick_activity_wait(of, soon(), &fault));
  look_at_neighbour(from, to);
  look_at_others("endless logic", 0);
  printf("checks that fail: %d\n", wrong);
  return wrong != 0;
}
