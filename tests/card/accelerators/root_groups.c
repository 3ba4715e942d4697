// Groups: their members have their turns at the same time, or none of them. Two groups and single
// activities share tiles.
#include <flick/card.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 2048, BLOCKS = 600, SIZE = BLOCKS * BLOCK, COPY = 64 << 10, OUT = 1000 };
enum { STREAMS = 5, MOST_GROUPS = 8, NOBODY = 12345 };
enum { WAITS = 1, RUNS, FOR_MESSAGE, OVER };

static char data[COPY];
static uint64_t gate, dram;
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

// Streams from memory to memory. All have the same memory.
struct stream {
  uint64_t activity, read, has_ended;
};

static struct stream streams[STREAMS];
static uint64_t from, to;

static uint64_t make(unsigned n, const char *tile) {
  uint64_t made = good(flick_activity_create(tile_of(tile)), "activity_create");
  streams[n] = (struct stream){.activity = made};
  uint64_t in = good(flick_gate_sender(gate, n, 1), "gate_sender");
  uint64_t out = good(flick_gate_sender(gate, OUT + n, 1), "gate_sender");
  good(flick_activity_endpoint(made, FLICK_INPUT_REQUESTS, in), "activity_endpoint");
  good(flick_activity_endpoint(made, FLICK_INPUT_DATA, from), "activity_endpoint");
  good(flick_activity_endpoint(made, FLICK_OUTPUT_REQUESTS, out), "activity_endpoint");
  good(flick_activity_endpoint(made, FLICK_OUTPUT_DATA, to), "activity_endpoint");
  return made;
}

static void start(unsigned n) {
  good(flick_activity_start(streams[n].activity, FLICK_INPUT_ASKED), "activity_start");
}

// Serves a request, if there is one soon.
static void serve(void) {
  uint64_t request[15], label, answer[3] = {0}, soon = flick_time() + 20;
  int64_t taken = flick_gate_receive(gate, (uint64_t)request, soon, &label);
  if (taken == -FLICK_ETIMEDOUT)
    return;
  struct stream *stream = &streams[label % OUT];
  uint64_t slot = good(taken, "gate_receive") & 0xff;
  if (request[0] == FLICK_FILE_NEXT_IN) {
    answer[2] = SIZE - stream->read < COPY ? SIZE - stream->read : COPY;
    stream->read += answer[2];
  } else if (request[0] == FLICK_FILE_NEXT_OUT) {
    answer[2] = COPY;
  } else if (request[0] == FLICK_FILE_END) {
    stream->has_ended = 1;
  }
  int64_t answered = flick_gate_answer(gate, slot, (uint64_t)answer, sizeof answer);
  // Of one that was revoked.
  if (answered != -FLICK_EOWNERDEAD || stream->activity)
    good(answered, "gate_answer");
}

static int64_t state(unsigned n) {
  uint64_t blocks;
  return flick_activity_state(streams[n].activity, &blocks);
}

// What is seen of two activities that belong together.
struct seen {
  unsigned long both, none, one;
};

static void look(unsigned first, unsigned second, struct seen *seen) {
  int64_t a = state(first), b = state(second);
  // Those that are over do not count, and what changes meanwhile.
  if (a == OVER || b == OVER || state(first) != a || state(second) != b)
    return;
  seen->both += a == RUNS && b == RUNS;
  seen->none += a != RUNS && b != RUNS;
  seen->one += (a == RUNS) != (b == RUNS);
}

static void check_seen(const struct seen *seen, const char *which) {
  unsigned long all = seen->both + seen->none + seen->one;
  if (seen->both < 20 || seen->none < 20 || seen->one * 20 > all) {
    printf("%s: together %lu, none %lu, alone %lu\n", which, seen->both, seen->none, seen->one);
    wrong++;
  }
}

static void end(unsigned n) {
  uint64_t fault;
  expect(flick_activity_wait(streams[n].activity, FLICK_FOR_EVER, &fault), 3, "its status");
  good(flick_capability_revoke(streams[n].activity), "capability_revoke");
}

// What calls refuse.
static void refused(void) {
  uint64_t group = good(flick_group_create(), "group_create");
  uint64_t first = make(0, "fft"), same = make(1, "fft"), second = make(2, "mul");
  expect(flick_group_join(group, first), 0, "the first member");
  expect(flick_group_join(group, first), -FLICK_EBUSY, "a member again");
  expect(flick_group_join(group, same), -FLICK_EEXIST, "a member of the same tile");
  expect(flick_group_join(gate, second), -FLICK_EINVAL, "a gate as a group");
  expect(flick_group_join(group, gate), -FLICK_EINVAL, "a gate as a member");
  expect(flick_group_join(NOBODY, second), -FLICK_ENOENT, "no group");
  expect(flick_activity_move(first, 1), -FLICK_EBUSY, "a member moves");
  expect(flick_capability_give(group, 1), -FLICK_ENOENT, "a group for another one");
  uint64_t groups[MOST_GROUPS];
  for (int n = 0; n < MOST_GROUPS - 1; n++)
    groups[n] = good(flick_group_create(), "group_create");
  expect(flick_group_create(), -FLICK_ENOMEM, "too many groups");
  for (int n = 0; n < MOST_GROUPS - 1; n++)
    good(flick_capability_revoke(groups[n]), "capability_revoke");
  expect(flick_group_join(groups[0], second), -FLICK_ENOENT, "a group that is gone");

  // A member has not begun: the other one does not run, and does not hold others up.
  expect(flick_group_join(group, second), 0, "the second member");
  start(0);
  start(1);
  while (!streams[1].has_ended)
    serve();
  expect(state(0), FOR_MESSAGE, "a member that waits for its group");
  expect((int64_t)streams[0].read, 0, "what it has read");
  end(1);
  uint64_t other = make(3, "ifft");
  start(3);
  expect(flick_group_join(group, other), -FLICK_EBUSY, "an activity that has begun");
  expect(flick_group_join(group, make(4, "ifft")), -FLICK_EBUSY, "a group that has begun");
  // The one that has not begun goes: the other one runs alone, without its capability, too.
  good(flick_capability_revoke(group), "capability_revoke");
  good(flick_capability_revoke(second), "capability_revoke");
  while (!streams[0].has_ended || !streams[3].has_ended)
    serve();
  end(0);
  end(3);
  good(flick_capability_revoke(streams[4].activity), "capability_revoke");
}

int main(void) {
  dram = tile_of("");
  gate = good(flick_gate_create(), "gate_create");
  from = good(flick_tile_memory(dram, COPY), "tile_memory");
  to = good(flick_tile_memory(dram, COPY), "tile_memory");
  good(flick_tile_store(from, 0, (uint64_t)data, COPY), "tile_store");
  refused();

  // Two groups on the same tiles, whose members came in another order, and a single one beside.
  static const char *const tiles[STREAMS] = {"fft", "ifft", "ifft", "fft", "ifft"};
  uint64_t groups[2];
  for (int n = 0; n < 2; n++)
    groups[n] = good(flick_group_create(), "group_create");
  for (unsigned n = 0; n < STREAMS; n++) {
    make(n, tiles[n]);
    if (n < 4)
      good(flick_group_join(groups[n / 2], streams[n].activity), "group_join");
  }
  for (unsigned n = 0; n < STREAMS; n++)
    start(n);
  struct seen seen[2] = {{0}};
  int has_ended;
  do {
    serve();
    has_ended = 1;
    for (unsigned n = 0; n < STREAMS; n++)
      has_ended &= (int)streams[n].has_ended;
    look(0, 1, &seen[0]);
    look(2, 3, &seen[1]);
  } while (!has_ended);
  check_seen(&seen[0], "the first group");
  check_seen(&seen[1], "the second group");
  for (unsigned n = 0; n < STREAMS; n++)
    end(n);

  // A member is revoked while it has its turn, and one while it has none. The others go on.
  for (unsigned n = 0; n < 4; n++) {
    make(n, tiles[n]);
    good(flick_group_join(groups[n / 2], streams[n].activity), "group_join");
  }
  for (unsigned n = 0; n < 4; n++)
    start(n);
  while (state(0) != RUNS || streams[0].read < SIZE / 4)
    serve();
  good(flick_capability_revoke(streams[0].activity), "capability_revoke");
  streams[0].activity = 0;
  while (state(2) == RUNS)
    serve();
  good(flick_capability_revoke(streams[2].activity), "capability_revoke");
  streams[2].activity = 0;
  while (!streams[1].has_ended || !streams[3].has_ended)
    serve();
  end(1);
  end(3);
  printf("checks that fail: %d\n", wrong);
  return wrong != 0;
}
