// A program of the root's tile lets an accelerator of requests add vectors, and is its pager.
#include <flick/card.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Numbers of a vector, and steps: each adds 8 of them.
enum { COUNT = 4096, SIZE = 8 * COUNT, STEPS = COUNT / 8, BATCH = 64, PAGE = 4096 };
enum { PAGER = 10, PAGED = 11, LAST = 15, KEEPS = 1 << 8 };
enum { BAD_ADDRESS = 14, NO_ACCESS = 13, ANSWERS = 1, FAULTS };
#define MAPPED 0x40000000ul

static double vectors[2][COUNT], sums[COUNT];
static uint64_t gate, rights = FLICK_READ | FLICK_WRITE, faults;
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

static uint64_t tile(const char *name) {
  uint64_t endpoints;
  return good(flick_tile_find((uint64_t)name, strlen(name), 0, &endpoints), name);
}

static int64_t send(uint64_t sender, uint64_t first, uint64_t count, uint64_t flags,
                    uint64_t where) {
  uint64_t request[10] = {first, count, 1, 3 | flags};
  for (int n = 0; n < 3; n++) {
    request[4 + 2 * n] = where + n * SIZE;
    request[5 + 2 * n] = SIZE;
  }
  int64_t sent;
  // A new activity gets its tile when the module has ended the last one.
  do
    sent = flick_gate_send(sender, (uint64_t)request, sizeof request, gate, ANSWERS);
  while (sent == -FLICK_EAGAIN);
  return sent;
}

// Takes a message. Of a fault: its slot, or else -1.
static int64_t take(uint64_t message[15]) {
  uint64_t label;
  int64_t taken = flick_gate_receive(gate, (uint64_t)message, FLICK_FOR_EVER, &label);
  return label == FAULTS ? (int64_t)good(taken, "gate_receive") & 0xff : -1;
}

// Makes steps: the error, or how many were made.
static int64_t steps(uint64_t sender, uint64_t first, uint64_t count, uint64_t flags,
                     uint64_t where) {
  uint64_t message[15];
  int64_t slot;
  good(send(sender, first, count, flags, where), "gate_send");
  while ((slot = take(message)) >= 0) {
    uint64_t offset = message[0] - MAPPED, answer[3] = {0, rights | PAGED << 16, offset};
    if (offset >= 3 * SIZE)
      answer[0] = BAD_ADDRESS;
    faults++;
    good(flick_gate_answer(gate, (uint64_t)slot, (uint64_t)answer, sizeof answer), "gate_answer");
  }
  return message[0] ? -(int64_t)message[0] : (int64_t)message[1];
}

static uint64_t begin(uint64_t memory, uint64_t *sender) {
  uint64_t activity = good(flick_activity_create(tile("vector-sum")), "activity_create");
  good(flick_activity_endpoint(activity, PAGER, good(flick_gate_sender(gate, FAULTS, 1), "sender")),
       "the pager");
  good(flick_activity_endpoint(activity, PAGED, memory), "its memory");
  *sender =
      good(flick_gate_sender(good(flick_activity_gate(activity), "its gate"), 0, 1), "sender");
  good(flick_activity_start(activity, FLICK_INPUT_ASKED), "activity_start");
  return activity;
}

static void check_sums(uint64_t memory, const char *what) {
  int bad = 0;
  good(flick_tile_load(memory, 2 * SIZE, (uint64_t)sums, SIZE), "tile_load");
  for (int n = 0; n < COUNT; n++)
    bad += sums[n] != vectors[0][n] + vectors[1][n];
  expect(bad, 0, what);
  memset(sums, 0, sizeof sums);
  good(flick_tile_store(memory, 2 * SIZE, (uint64_t)sums, SIZE), "tile_store");
}

int main(void) {
  for (int n = 0; n < COUNT; n++) {
    vectors[0][n] = n * 3;
    vectors[1][n] = n * 0.25;
  }
  uint64_t memory = good(flick_tile_memory(tile(""), 3 * SIZE), "tile_memory"), sender;
  for (int n = 0; n < 2; n++)
    good(flick_tile_store(memory, n * SIZE, (uint64_t)vectors[n], SIZE), "tile_store");
  gate = good(flick_gate_create(), "gate_create");
  uint64_t part = good(flick_capability_narrow(memory, 0, 3 * SIZE, 3), "capability_narrow");
  uint64_t activity = begin(part, &sender);
  expect(flick_activity_endpoint(activity, FLICK_INPUT_DATA, part), -FLICK_EINVAL,
         "an endpoint of streams");
  expect(flick_activity_endpoint(activity, LAST + 1, part), -FLICK_EINVAL, "no endpoint");
  expect(flick_activity_endpoint(activity, PAGER, part), -FLICK_EINVAL, "memory as the pager");
  expect(flick_activity_endpoint(activity, PAGED, sender), -FLICK_EINVAL, "a sender as memory");

  expect(steps(sender, 0, 0, 0, MAPPED), STEPS, "all steps");
  check_sums(memory, "their sums");
  expect(faults, 3 * SIZE / PAGE, "pages");
  for (uint64_t first = 0; first < STEPS; first += BATCH)
    expect(steps(sender, first, BATCH, first ? KEEPS : 0, MAPPED), BATCH, "a batch");
  check_sums(memory, "sums of batches");
  expect(faults, 3 * SIZE / PAGE, "no page more");
  expect(steps(sender, 0, 0, 0, MAPPED + 3 * SIZE), -BAD_ADDRESS, "a page that is not mapped");

  // Memory that goes: the accelerator reaches it no more.
  expect(flick_capability_revoke(part), 0, "the end of its memory");
  expect(steps(sender, 0, 0, 0, MAPPED), -BAD_ADDRESS, "memory that is gone");
  expect(flick_capability_revoke(activity), 0, "the end of the activity");
  expect(send(sender, 0, 0, 0, MAPPED), -FLICK_ENOENT, "its sender");

  // Pages of a reader are not written.
  rights = FLICK_READ;
  activity = begin(memory, &sender);
  expect(steps(sender, 0, 0, 0, MAPPED), -NO_ACCESS, "a write to a page that is to be read");
  rights = FLICK_READ | FLICK_WRITE;
  expect(flick_capability_revoke(activity), 0, "its end");

  // An activity ends while it waits for the pager. The next one has no pages of it, and works.
  activity = begin(memory, &sender);
  uint64_t message[15], answer[3] = {0, 3 | PAGED << 16, 0};
  expect(send(sender, 0, 0, 0, MAPPED), 0, "a request");
  int64_t slot = take(message);
  expect(slot >= 0, 1, "a fault");
  expect(flick_capability_revoke(activity), 0, "an end with a fault");
  flick_gate_answer(gate, slot, (uint64_t)answer, sizeof answer);
  faults = 0;
  activity = begin(memory, &sender);
  expect(steps(sender, 0, 0, 0, MAPPED), STEPS, "steps of the next one");
  check_sums(memory, "its sums");
  expect(faults, 3 * SIZE / PAGE, "its pages");
  printf("checks that fail: %d\n", wrong);
  return wrong != 0;
}
