// Several activities share an accelerator of requests. This program sends them requests, and is
// the pager of all. Each has memory of its own, so that data of another one would show.
#include <flick/card.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Numbers of a vector, and steps: each adds 8 of them.
enum { COUNT = 2048, SIZE = 8 * COUNT, STEPS = COUNT / 8, PAGE = 4096, PAGES = 3 * SIZE / PAGE };
enum { PAGER = 10, PAGED = 11, KEEPS = 1 << 8, NUMBER = 4, BATCH = 32, ROUNDS = 3 };
enum { BAD_ADDRESS = 14, NO_ACCESS = 13, FAILED = 5, FAULTS = 1000 };
#define MAPPED 0x40000000ul

struct one {
  uint64_t activity, memory, sender;
  // The next step, and faults.
  uint64_t next, round, faults;
};

static struct one all[NUMBER + 2];
static double numbers[COUNT], sums[COUNT];
static uint64_t gate, sum_tile, dram;
static int wrong;
// Activities may move to another tile.
static int moves;

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

static double number(unsigned of, int vector, int n) { return n * (vector + 1) + of * 1000; }

static void begin(unsigned n) {
  struct one *one = &all[n];
  *one = (struct one){.memory = good(flick_tile_memory(dram, 3 * SIZE), "tile_memory")};
  for (int vector = 0; vector < 2; vector++) {
    for (int at = 0; at < COUNT; at++)
      numbers[at] = number(n, vector, at);
    good(flick_tile_store(one->memory, vector * SIZE, (uint64_t)numbers, SIZE), "tile_store");
  }
  one->activity = good(flick_activity_create(sum_tile), "activity_create");
  uint64_t pager = good(flick_gate_sender(gate, FAULTS + n, 1), "gate_sender");
  good(flick_activity_endpoint(one->activity, PAGER, pager), "the pager");
  good(flick_activity_endpoint(one->activity, PAGED, one->memory), "its memory");
  uint64_t to = good(flick_activity_gate(one->activity), "activity_gate");
  one->sender = good(flick_gate_sender(to, 0, 1), "gate_sender");
  if (moves)
    good(flick_activity_move(one->activity, 1), "activity_move");
  good(flick_activity_start(one->activity, FLICK_INPUT_ASKED), "activity_start");
}

// The next batch of steps. `where`: the address of the arrays.
static int64_t send(unsigned n, uint64_t where) {
  struct one *one = &all[n];
  uint64_t request[10] = {one->next, BATCH, 1, 3 | (one->next ? KEEPS : 0)};
  for (int array = 0; array < 3; array++) {
    request[4 + 2 * array] = where + array * SIZE;
    request[5 + 2 * array] = SIZE;
  }
  int64_t sent;
  do
    sent = flick_gate_send(one->sender, (uint64_t)request, sizeof request, gate, n);
  while (sent == -FLICK_EAGAIN);
  return sent;
}

// Answers a fault.
static void serve(unsigned n, uint64_t slot, const uint64_t message[15]) {
  uint64_t answer[3] = {0, FLICK_READ | FLICK_WRITE | PAGED << 16, message[0] - MAPPED};
  if (answer[2] >= 3 * SIZE)
    answer[0] = BAD_ADDRESS;
  all[n].faults++;
  good(flick_gate_answer(gate, slot, (uint64_t)answer, sizeof answer), "gate_answer");
}

// Takes a message: whose it is, its slot, and whether it is a fault.
static unsigned take(uint64_t message[15], uint64_t *slot, int *is_fault) {
  uint64_t label;
  *slot =
      good(flick_gate_receive(gate, (uint64_t)message, FLICK_FOR_EVER, &label), "receive") & 255;
  *is_fault = label >= FAULTS;
  return label % FAULTS;
}

// The next answer of an activity; faults of others are served.
static int64_t answer_of(unsigned n) {
  uint64_t message[15], slot;
  int is_fault;
  for (;;) {
    unsigned from = take(message, &slot, &is_fault);
    if (is_fault) {
      serve(from, slot, message);
    } else {
      expect(from, n, "who answers");
      return message[0] ? -(int64_t)message[0] : (int64_t)message[1];
    }
  }
}

static void check_sums(unsigned n) {
  int bad = 0;
  good(flick_tile_load(all[n].memory, 2 * SIZE, (uint64_t)sums, SIZE), "tile_load");
  for (int at = 0; at < COUNT; at++)
    bad += sums[at] != number(n, 0, at) + number(n, 1, at);
  expect(bad, 0, "wrong sums");
  memset(sums, 0, sizeof sums);
  good(flick_tile_store(all[n].memory, 2 * SIZE, (uint64_t)sums, SIZE), "tile_store");
}

// All activities make all steps in batches, several times.
static void share(void) {
  uint64_t message[15], slot, ended = 0;
  int is_fault;
  for (unsigned n = 0; n < NUMBER; n++)
    good(send(n, MAPPED), "gate_send");
  while (ended < NUMBER) {
    unsigned n = take(message, &slot, &is_fault);
    struct one *one = &all[n];
    if (is_fault) {
      serve(n, slot, message);
      continue;
    }
    expect((int64_t)message[0], 0, "an error");
    expect((int64_t)message[1], BATCH, "steps");
    one->next += BATCH;
    if (one->next == STEPS) {
      check_sums(n);
      one->next = 0;
      if (++one->round == ROUNDS) {
        ended++;
        continue;
      }
    }
    good(send(n, MAPPED), "gate_send");
  }
}

// An activity cannot write its cache back, because its pager does not answer: it ends, and others
// go on.
static void end_by_pager(void) {
  uint64_t message[15], slot, answer[3] = {BAD_ADDRESS};
  int is_fault;
  begin(NUMBER);
  good(send(NUMBER, MAPPED), "gate_send");
  for (int page = 0; page < 4; page++) {
    const uint64_t readable[3] = {0, FLICK_READ | PAGED << 16, page * SIZE};
    expect(take(message, &slot, &is_fault), NUMBER, "who has a fault");
    if (page < 3)
      good(flick_gate_answer(gate, slot, (uint64_t)readable, sizeof readable), "gate_answer");
    else
      expect((int64_t)message[1], FLICK_WRITE, "a fault of a write");
  }
  good(send(1, MAPPED), "gate_send");
  expect(answer_of(1), BATCH, "steps behind one that cannot stop");
  uint64_t fault;
  expect(flick_activity_wait(all[NUMBER].activity, FLICK_FOR_EVER, &fault), 4, "its status");
  expect((int64_t)fault, FAILED, "its error");
  // The credit of the first sender went with the request.
  uint64_t to = good(flick_activity_gate(all[NUMBER].activity), "activity_gate");
  all[NUMBER].sender = good(flick_gate_sender(to, 0, 1), "gate_sender");
  expect(send(NUMBER, MAPPED), -FLICK_EOWNERDEAD, "a request for it");
  flick_gate_answer(gate, slot, (uint64_t)answer, sizeof answer);
}

int main(int count, char **arguments) {
  moves = count > 1 && !strcmp(arguments[1], "move");
  sum_tile = tile_of("vector-sum");
  dram = tile_of("");
  gate = good(flick_gate_create(), "gate_create");
  uint64_t forwarded, before, faults = 0;
  uint64_t turns = good(flick_accelerator_turns(&before), "accelerator_turns");
  for (unsigned n = 0; n < NUMBER; n++)
    begin(n);
  share();
  turns = good(flick_accelerator_turns(&forwarded), "accelerator_turns") - turns;
  for (unsigned n = 0; n < NUMBER; n++) {
    uint64_t steps;
    good(flick_activity_state(all[n].activity, &steps), "activity_state");
    expect((int64_t)steps, ROUNDS * STEPS, "steps of an activity");
    // The unit keeps no pages of an activity that has no turn.
    expect(all[n].faults >= PAGES, 1, "pages");
    faults += all[n].faults;
  }
  printf("%lu turns, %lu forwarded, %lu faults\n", (unsigned long)turns,
         (unsigned long)(forwarded - before), (unsigned long)faults);

  // The pager of the first one does not answer, and it holds nobody up.
  uint64_t message[15], slot;
  int is_fault;
  begin(NUMBER);
  good(send(NUMBER, MAPPED), "gate_send");
  expect(take(message, &slot, &is_fault), NUMBER, "who has a fault");
  expect(is_fault, 1, "a fault");
  for (unsigned n = 1; n < NUMBER; n++) {
    good(send(n, MAPPED), "gate_send");
    expect(answer_of(n), BATCH, "steps beside one that waits for its pager");
  }
  // Its pager answers while it has no turn.
  serve(NUMBER, slot, message);
  expect(answer_of(NUMBER), BATCH, "steps behind a late answer");

  // A late answer may be an error, or have too few rights.
  static const uint64_t errors[2][3] = {{BAD_ADDRESS, 0, 0}, {0, FLICK_WRITE | PAGED << 16, 0}};
  static const int outcomes[] = {BAD_ADDRESS, NO_ACCESS};
  for (int n = 0; n < 2; n++) {
    begin(NUMBER + 1);
    // The page of the sums is the third one that it needs.
    good(send(NUMBER + 1, MAPPED), "gate_send");
    for (int page = 0; page < 3; page++) {
      expect(take(message, &slot, &is_fault), NUMBER + 1, "who has a fault");
      if (page < 2)
        serve(NUMBER + 1, slot, message);
    }
    for (unsigned other = 1; other < NUMBER; other++) {
      good(send(other, MAPPED), "gate_send");
      expect(answer_of(other), BATCH, "steps of others");
    }
    good(flick_gate_answer(gate, slot, (uint64_t)errors[n], sizeof errors[n]), "gate_answer");
    int64_t outcome = answer_of(NUMBER + 1);
    expect(outcome, -outcomes[n], "an error that comes late");
    expect(flick_capability_revoke(all[NUMBER + 1].activity), 0, "the end of an activity");
    expect(flick_capability_revoke(all[NUMBER + 1].memory), 0, "the end of its memory");
  }

  // An activity without a turn is revoked, with a request that it has not seen, and so is one that
  // waits for its pager.
  begin(NUMBER + 1);
  good(send(NUMBER + 1, MAPPED), "gate_send");
  expect(take(message, &slot, &is_fault), NUMBER + 1, "who has a fault");
  good(send(1, MAPPED), "gate_send");
  expect(flick_capability_revoke(all[NUMBER + 1].activity), 0, "the end of one that waits");
  expect(answer_of(1), BATCH, "steps of the next one");
  flick_gate_answer(gate, slot, (uint64_t)errors[0], sizeof errors[0]);
  for (unsigned n = 2; n < NUMBER; n++)
    good(send(n, MAPPED), "gate_send");
  expect(flick_capability_revoke(all[NUMBER].activity), 0, "the end of one without a turn");
  for (unsigned n = 2; n < NUMBER; n++) {
    unsigned from = take(message, &slot, &is_fault);
    while (is_fault) {
      serve(from, slot, message);
      from = take(message, &slot, &is_fault);
    }
    expect(from > 1 && from < NUMBER, 1, "who answers");
  }
  expect(send(NUMBER, MAPPED), -FLICK_ENOENT, "its sender");
  // With a tile for each nobody wants it to stop.
  if (!moves)
    end_by_pager();

  // A request that is too long for an activity without a turn, and for one with it.
  uint64_t words[20] = {0};
  expect(flick_gate_send(all[1].sender, (uint64_t)words, 168, gate, 0), -FLICK_EINVAL, "too long");
  printf("checks that fail: %d\n", wrong);
  return wrong != 0;
}
