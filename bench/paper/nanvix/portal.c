/* Data through portals, from cluster 1 to cluster 0: bandwidth by size, and signals between
 * clusters. Each cluster runs this program, and the first one measures and prints.
 *
 *   portal [STEP]
 *
 * prints comma-separated values. `stream`: blocks of so many bytes, one behind the other, through
 * two portals: cycles of a block. `single`: one block, from the sender's call to its return, when
 * the receiver has consented before. `block`: so many clusters send blocks of 64 KiB to the first
 * one: cycles of a block. `gather`, `scatter`: cycles of a sync of so many clusters. */
#include "threads.h"
#include <errno.h>
#include <flick/channels.h>

enum { DATA = 1, RESULT = 3, MANY = 16, BLOCKS = 40, BLOCK = 65536, EACH = 6, MOST = 256 * 1024 };

static const uint32_t sizes[] = {1024, 4096, 16384, BLOCK, 131072, MOST};
#define SIZES (sizeof sizes / sizeof *sizes)

static unsigned char out[MOST] __attribute__((aligned(4096)));
/* Two of the largest, or one block from each cluster. */
static unsigned char in[15 * BLOCK] __attribute__((aligned(4096)));
static uint64_t word[15];

static void nothing_wrong(int64_t result) {
  if (result < 0) {
    printf("a channel fails: %d\n", errno);
    exit(1);
  }
}

/* Two writes are under way, so that the link always has one. */
static void send_all(void) {
  static struct flick_request put[2];
  struct flick_channel to[2] = {flick_channel_to(0, DATA), flick_channel_to(0, DATA + 1)};
  struct flick_channel result = flick_channel_to(0, RESULT);
  for (unsigned s = 0; s < SIZES; s++) {
    for (int n = 0; n < BLOCKS; n++) {
      if (n >= 2)
        nothing_wrong(flick_request_wait(&put[n % 2], FLICK_FOR_EVER));
      nothing_wrong(flick_portal_start_put(&to[n % 2], out, sizes[s], &put[n % 2]));
    }
    for (int n = 0; n < 2; n++)
      nothing_wrong(flick_request_wait(&put[n], FLICK_FOR_EVER));
    for (int n = 0; n < WARM_UPS + REPETITIONS; n++) {
      /* The consent is there when the message is. */
      nothing_wrong(flick_mailbox_receive(RESULT, (uintptr_t)word, FLICK_FOR_EVER, NULL));
      uint64_t begin = cycles();
      nothing_wrong(flick_portal_put(&to[0], out, sizes[s], FLICK_FOR_EVER));
      word[0] = cycles() - begin;
      nothing_wrong(flick_mailbox_put(&result, word, FLICK_FOR_EVER));
    }
  }
}

static void receive_all(void) {
  static struct flick_channel portals[2];
  struct flick_channel sender = flick_channel_to(1, RESULT);
  static uint64_t taken[WARM_UPS + REPETITIONS];
  for (int n = 0; n < 2; n++)
    nothing_wrong(flick_portal_open(&portals[n], DATA + n));
  for (unsigned s = 0; s < SIZES; s++) {
    uint64_t begin = 0;
    for (int n = 0; n < 2; n++)
      nothing_wrong(flick_portal_consent(&portals[n], 1, in + n * MOST, sizes[s]));
    for (int n = 0; n < BLOCKS; n++) {
      nothing_wrong(flick_portal_get(&portals[n % 2], FLICK_FOR_EVER));
      if (n == WARM_UPS - 1)
        begin = cycles();
      if (n == BLOCKS - 1)
        taken[0] = (cycles() - begin) / (BLOCKS - WARM_UPS);
      if (n + 2 < BLOCKS)
        nothing_wrong(flick_portal_consent(&portals[n % 2], 1, in + n % 2 * MOST, sizes[s]));
    }
    printf("stream,%u,0,%llu\n", (unsigned)sizes[s], (unsigned long long)taken[0]);
    for (int n = 0; n < WARM_UPS + REPETITIONS; n++) {
      nothing_wrong(flick_portal_consent(&portals[0], 1, in, sizes[s]));
      nothing_wrong(flick_mailbox_put(&sender, word, FLICK_FOR_EVER));
      nothing_wrong(flick_portal_get(&portals[0], FLICK_FOR_EVER));
      nothing_wrong(flick_mailbox_receive(RESULT, (uintptr_t)word, FLICK_FOR_EVER, NULL));
      taken[n] = word[0];
    }
    for (int n = WARM_UPS; n < WARM_UPS + REPETITIONS; n++)
      printf("single,%u,%d,%llu\n", (unsigned)sizes[s], n - WARM_UPS, (unsigned long long)taken[n]);
  }
}

/* So many clusters send blocks to the first one at the same time. */
static void many(uint64_t senders) {
  uint64_t me = flick_program.tile;
  if (me > senders)
    return;
  if (me != 0) {
    struct flick_channel to = flick_channel_to(0, MANY + me);
    for (int n = 0; n < EACH; n++)
      nothing_wrong(flick_portal_put(&to, out, BLOCK, FLICK_FOR_EVER));
    return;
  }
  static struct flick_channel portals[16];
  for (uint64_t n = 1; n <= senders; n++) {
    nothing_wrong(flick_portal_open(&portals[n], MANY + n));
    nothing_wrong(flick_portal_consent(&portals[n], n, in + (n - 1) * BLOCK, BLOCK));
  }
  uint64_t begin = 0;
  for (int k = 0; k < EACH; k++)
    for (uint64_t n = 1; n <= senders; n++) {
      nothing_wrong(flick_portal_get(&portals[n], FLICK_FOR_EVER));
      if (k == 0 && n == senders)
        begin = cycles();
      if (k + 1 < EACH)
        nothing_wrong(flick_portal_consent(&portals[n], n, in + (n - 1) * BLOCK, BLOCK));
    }
  uint64_t taken = (cycles() - begin) / ((EACH - 1) * senders);
  printf("block,%d,0,%llu\n", (int)senders, (unsigned long long)taken);
  for (uint64_t n = 1; n <= senders; n++)
    nothing_wrong(flick_portal_unlink(&portals[n]));
}

/* All clusters below `count` signal the first one, and are signalled by it. */
static void syncs(uint64_t count, uint64_t port) {
  static struct flick_sync gather, scatter;
  static uint64_t taken[2][WARM_UPS + REPETITIONS];
  uint64_t others = (UINT64_C(1) << count) - 2, me = flick_program.tile;
  if (me >= count)
    return;
  nothing_wrong(flick_sync_open(&gather, FLICK_ALL_TO_ONE, port, 0, others));
  nothing_wrong(flick_sync_open(&scatter, FLICK_ONE_TO_ALL, port + 1, 0, others));
  for (int n = 0; n < WARM_UPS + REPETITIONS; n++) {
    uint64_t begin = cycles();
    nothing_wrong((me == 0 ? flick_sync_wait : flick_sync_signal)(&gather, FLICK_FOR_EVER));
    uint64_t middle = cycles();
    nothing_wrong((me == 0 ? flick_sync_signal : flick_sync_wait)(&scatter, FLICK_FOR_EVER));
    taken[0][n] = middle - begin;
    taken[1][n] = cycles() - middle;
  }
  for (int n = WARM_UPS; me == 0 && n < WARM_UPS + REPETITIONS; n++)
    for (int k = 0; k < 2; k++)
      printf("%s,%d,%d,%llu\n", k ? "scatter" : "gather", (int)count, n - WARM_UPS,
             (unsigned long long)taken[k][n]);
}

int main(int argc, char **argv) {
  int step = step_argument(argc, argv);
  uint64_t me = flick_program.tile;
  nothing_wrong(flick_mailbox_create(RESULT));
  if (me == 0)
    printf("measure,clusters,repetition,cycles\n");
  if (me == 1)
    send_all();
  if (me == 0)
    receive_all();
  /* The others are quiet until here. */
  for (uint64_t tile = 2; me == 0 && tile < flick_program.tiles; tile++) {
    struct flick_channel other = flick_channel_to(tile, RESULT);
    nothing_wrong(flick_mailbox_put(&other, word, FLICK_FOR_EVER));
  }
  if (me > 1)
    nothing_wrong(flick_mailbox_receive(RESULT, (uintptr_t)word, FLICK_FOR_EVER, NULL));
  for (uint64_t senders = 1; senders < flick_program.tiles; senders += step)
    many(senders);
  for (uint64_t count = 2; count <= flick_program.tiles; count += step)
    syncs(count, 2 * count);
}
