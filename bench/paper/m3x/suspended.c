/* Round trips of M3x (ATC 2019, section 7.2) to accelerators whose activity has no turn, as a
 * program of the card's kernel has them: the kernel takes the message, switches the accelerator,
 * and the activity answers. Beside them it measures a call of the kernel, and a switch alone.
 *
 *   suspended REPETITIONS
 *
 * prints comma-separated values: cycles of the core, and of queues the turns and the messages that
 * the kernel has taken. */
#include "calls.h"
#include "stages.h"

enum { WARM_UPS = 2, LONG = 100, MESSAGES = 64, MOST_QUEUED = 8 };
enum { ATOMS = 1024, ARRAYS = 7, TIMEBASE = 10, MOST = 64 };

static uint64_t gate, repetitions;

static void print(const char *measure, uint64_t queued, uint64_t repetition, uint64_t value) {
  printf("%s,%lu,%lu,%lu\n", measure, (unsigned long)queued, (unsigned long)repetition,
         (unsigned long)value);
}

struct receiver {
  const char *name, *tile;
  const uint64_t *message;
  uint64_t size, input;
};

struct activity {
  uint64_t number, sender;
};

static struct activity make(const struct receiver *of) {
  uint64_t endpoints;
  uint64_t tile =
      good(flick_tile_find((uint64_t)of->tile, strlen(of->tile), 0, &endpoints), of->tile);
  struct activity made = {.number = good(flick_activity_create(tile), "activity_create")};
  uint64_t to = good(flick_activity_gate(made.number), "activity_gate");
  made.sender = good(flick_gate_sender(to, 0, MOST_QUEUED), "gate_sender");
  return made;
}

static void send(const struct receiver *of, const struct activity *to) {
  int64_t sent;
  /* It gets its turn meanwhile, and its unit takes the message then. */
  do
    sent = flick_gate_send(to->sender, (uint64_t)of->message, of->size, gate, 0);
  while (sent == -FLICK_EAGAIN);
  good(sent, "gate_send");
}

static void receive(void) {
  uint64_t answer[WORDS], label;
  good(flick_gate_receive(gate, (uint64_t)answer, FLICK_FOR_EVER, &label), "gate_receive");
  if (answer[0]) {
    printf("an answer with error %lu\n", (unsigned long)answer[0]);
    exit(1);
  }
}

/* The activity that has its turn has had nothing to do for long: it yields at once. */
static void rest(void) {
  uint64_t until = flick_time() + LONG * TIMEBASE;
  while (flick_time() < until)
    ;
}

static void measure(const struct receiver *of) {
  char name[64];
  struct activity pair[2];
  for (int n = 0; n < 2; n++)
    pair[n] = make(of);
  good(flick_activity_start(pair[0].number, of->input), "activity_start");
  send(of, &pair[0]);
  receive();

  /* A receiver that has its turn. */
  snprintf(name, sizeof name, "%s by calls", of->name);
  for (uint64_t n = 0; n < WARM_UPS + repetitions; n++) {
    uint64_t begin = cycles();
    send(of, &pair[0]);
    receive();
    if (n >= WARM_UPS)
      print(name, 1, n - WARM_UPS, cycles() - begin);
  }

  /* An activity begins, and answers the message that is left for it. */
  snprintf(name, sizeof name, "start %s", of->name);
  for (uint64_t n = 0; n < WARM_UPS + repetitions; n++) {
    struct activity begun = make(of);
    send(of, &begun);
    rest();
    uint64_t begin = cycles();
    good(flick_activity_start(begun.number, of->input), "activity_start");
    receive();
    uint64_t took = cycles() - begin;
    if (n >= WARM_UPS)
      print(name, 1, n - WARM_UPS, took);
    good(flick_capability_revoke(begun.number), "capability_revoke");
    /* The other one has the tile again. */
    send(of, &pair[0]);
    receive();
  }

  good(flick_activity_start(pair[1].number, of->input), "activity_start");
  send(of, &pair[1]);
  receive();
  snprintf(name, sizeof name, "%s suspended", of->name);
  for (uint64_t n = 0; n < WARM_UPS + repetitions; n++) {
    rest();
    uint64_t begin = cycles();
    send(of, &pair[n % 2]);
    receive();
    if (n >= WARM_UPS)
      print(name, 1, n - WARM_UPS, cycles() - begin);
  }

  /* So many messages at a time, for one and the other. */
  for (uint64_t queued = 1; queued <= MOST_QUEUED && of->size > 3 * sizeof(uint64_t); queued++) {
    uint64_t before, forwarded, sent = 0, took = 0;
    uint64_t turns = good(flick_accelerator_turns(&before), "accelerator_turns");
    for (int n = 0; sent < MESSAGES; n++) {
      rest();
      uint64_t begin = cycles();
      for (uint64_t m = 0; m < queued; m++)
        send(of, &pair[n % 2]);
      for (uint64_t m = 0; m < queued; m++)
        receive();
      took += cycles() - begin;
      sent += queued;
    }
    turns = good(flick_accelerator_turns(&forwarded), "accelerator_turns") - turns;
    print("queue cycles", queued, 0, took / sent);
    print("queue messages", queued, 0, sent);
    print("queue turns", queued, 0, turns);
    print("queue forwarded", queued, 0, forwarded - before);
  }
  for (int n = 0; n < 2; n++)
    good(flick_capability_revoke(pair[n].number), "capability_revoke");
}

static int compare(const void *first, const void *second) {
  uint64_t a = *(const uint64_t *)first, b = *(const uint64_t *)second;
  return a < b ? -1 : a > b;
}

int main(int argc, char **argv) {
  if (argc != 2)
    return 2;
  repetitions = strtoull(argv[1], 0, 10);
  puts("measure,threads,repetition,cycles");
  gate = good(flick_gate_create(), "gate_create");
  static uint64_t calls[MOST];
  for (uint64_t n = 0; n < MOST; n++) {
    uint64_t forwarded, begin = cycles();
    good(flick_accelerator_turns(&forwarded), "accelerator_turns");
    calls[n] = cycles() - begin;
  }
  /* The kernel has other work now and then: the median. */
  qsort(calls, MOST, sizeof *calls, compare);
  print("call", 1, 0, calls[MOST / 2]);
  /* Nobody has granted anything, and all steps are behind the last one: the answer comes at once.
   */
  static const uint64_t none[3] = {FLICK_FILE_COMMIT};
  static uint64_t request[4 + 2 * ARRAYS] = {ATOMS, 0, 1, ARRAYS};
  for (int array = 0; array < ARRAYS; array++)
    request[5 + 2 * array] = array == 3 ? 4 * 16 * ATOMS : 8 * ATOMS;
  const struct receiver receivers[] = {
      {"stream accelerator", "fft", none, sizeof none, FLICK_INPUT_PUSHED},
      {"request accelerator", "md", request, sizeof request, FLICK_INPUT_ASKED},
  };
  measure(&receivers[0]);
  measure(&receivers[1]);
  return 0;
}
