/* Messages of 120 bytes between clusters: latency and bandwidth. Each cluster runs this program,
 * and the first one measures and prints.
 *
 *   mailbox [STEP [MESSAGES]]
 *
 * prints comma-separated values. `latency`: a message to a cluster and its answer, half the cycles
 * of both, by the cluster's number (0 is the first cluster itself). `senders`: so many clusters
 * send to the first one without a pause, cycles of a message. */
#include "threads.h"

enum { REQUESTS = 1, ANSWERS = 2, BYTES = 120, MESSAGES = 100 };

static uint64_t message[BYTES / 8] __attribute__((aligned(LINE)));

static void send(uint64_t tile, uint64_t port) {
  int64_t result;
  /* The other cluster may still be booting. */
  while ((result = flick_mailbox_send(tile, port, (uint64_t)message, FLICK_FOR_EVER)) ==
         -FLICK_ENOENT)
    flick_thread_sleep(flick_time() + flick_program.frequency / 10000);
  good(result);
}

static void receive(uint64_t port) {
  good(flick_mailbox_receive(port, (uint64_t)message, FLICK_FOR_EVER, NULL));
}

/* A cluster is told how many messages it shall send; none is the end. */
static void tell(uint64_t tile, uint64_t count) {
  message[0] = count;
  send(tile, REQUESTS);
}

static void obey(void) {
  good(flick_mailbox_create(REQUESTS));
  uint64_t count;
  do {
    receive(REQUESTS);
    count = message[0];
    for (uint64_t n = 0; n < count; n++)
      send(0, ANSWERS);
  } while (count != 0);
}

/* Nothing is printed before all is measured: that would take the caches from what is measured. */
static void latency(uint64_t tile) {
  static uint64_t all[WARM_UPS + REPETITIONS];
  for (int n = 0; n < WARM_UPS + REPETITIONS; n++) {
    uint64_t begin = cycles();
    tell(tile, 1);
    /* The first cluster has nobody who answers: the message itself comes back. */
    receive(tile == 0 ? REQUESTS : ANSWERS);
    all[n] = cycles() - begin;
  }
  for (int n = WARM_UPS; n < WARM_UPS + REPETITIONS; n++)
    printf("latency,%d,%d,%llu\n", (int)tile, n - WARM_UPS,
           (unsigned long long)(tile == 0 ? all[n] : all[n] / 2));
}

static void bandwidth(int senders, int each) {
  for (int tile = 1; tile <= senders; tile++)
    tell(tile, each);
  uint64_t begin = 0;
  int all = senders * each, warm = senders * WARM_UPS;
  for (int n = 0; n < all; n++) {
    receive(ANSWERS);
    if (n == warm)
      begin = cycles();
  }
  printf("senders,%d,0,%llu\n", senders,
         (unsigned long long)((cycles() - begin) / (all - warm - 1)));
}

int main(int argc, char **argv) {
  stay();
  if (flick_program.tile != 0) {
    obey();
    return 0;
  }
  int step = step_argument(argc, argv), clusters = flick_program.tiles;
  int each = argc > 2 ? atoi(argv[2]) : MESSAGES;
  good(flick_mailbox_create(REQUESTS));
  good(flick_mailbox_create(ANSWERS));
  printf("measure,clusters,repetition,cycles\n");
  for (int tile = 0; tile < clusters; tile += step)
    latency(tile);
  for (int senders = 1; senders < clusters; senders += step)
    bandwidth(senders, each);
  for (int tile = 1; tile < clusters; tile++)
    tell(tile, 0);
}
