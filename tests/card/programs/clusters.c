// TILES: 4
// Clusters that talk: signals to one and to all, data around a ring and to one cluster from all,
// messages that nobody waits for yet. Each cluster runs this program, and the first one prints.
#include <errno.h>
#include <flick/channels.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RING = 1, TO_FIRST = 2, MAIL = 3, ROUNDS = 4, BLOCK = 20000, MESSAGES = 30 };

static unsigned char out[BLOCK + 64], in[2][BLOCK + 64];
static uint64_t me, tiles, good, bad;

static void check(int is_good) {
  good += is_good != 0;
  bad += is_good == 0;
}

static unsigned char byte(uint64_t tile, uint64_t round, size_t n) {
  return tile * 50 + round * 11 + n * 3 + n / 256;
}

static void fill(uint64_t round) {
  for (size_t n = 0; n < sizeof out; n++)
    out[n] = byte(me, round, n);
}

static int is_from(const unsigned char *bytes, size_t first, size_t size, uint64_t tile,
                   uint64_t round) {
  for (size_t n = 0; n < size; n++)
    if (bytes[n] != byte(tile, round, first + n))
      return 0;
  return 1;
}

static struct flick_sync gather, scatter;

static void barrier(void) {
  if (tiles == 1)
    return;
  if (me == 0) {
    check(flick_sync_wait(&gather, FLICK_FOR_EVER) == 0);
    check(flick_sync_signal(&scatter, FLICK_FOR_EVER) == 0);
  } else {
    check(flick_sync_signal(&gather, FLICK_FOR_EVER) == 0);
    check(flick_sync_wait(&scatter, FLICK_FOR_EVER) == 0);
  }
}

// Each cluster writes to the next one, and gets from the one before, both at the same time.
static void ring(void) {
  uint64_t next = (me + 1) % tiles, before = (me + tiles - 1) % tiles;
  struct flick_channel own, other = flick_channel_to(next, RING);
  check(flick_portal_open(&own, RING) == 0);
  for (uint64_t round = 0; round < ROUNDS; round++) {
    static struct flick_request put;
    size_t size = BLOCK - 5000 * round, at = round * 7;
    fill(round);
    check(flick_portal_consent(&own, before, in[0] + 64 - at, size) == 0);
    check(flick_portal_start_put(&other, out + at, size, &put) == 0);
    check(flick_portal_get(&own, FLICK_FOR_EVER) == (ptrdiff_t)size);
    check(is_from(in[0] + 64 - at, at, size, before, round));
    check(flick_request_wait(&put, FLICK_FOR_EVER) == (ptrdiff_t)size);
  }
  check(own.transfers == ROUNDS && other.transfers == ROUNDS && own.bytes == other.bytes);
  check(flick_portal_unlink(&own) == 0);
}

// All clusters write to the first one, which has two buffers: it consents to the next write before
// it looks at the last one.
static void to_first(void) {
  if (me != 0) {
    struct flick_channel other = flick_channel_to(0, TO_FIRST);
    fill(9);
    check(flick_portal_put(&other, out, BLOCK, FLICK_FOR_EVER) == 0);
    return;
  }
  static struct flick_channel portals[2];
  for (int n = 0; n < 2; n++)
    check(flick_portal_open(&portals[n], TO_FIRST + n) == 0);
  for (uint64_t tile = 1; tile < tiles; tile++) {
    // Another cluster may not use this consent.
    check(flick_portal_consent(&portals[0], tile, in[0], BLOCK) == 0);
    check(flick_portal_get(&portals[0], FLICK_FOR_EVER) == BLOCK);
    check(is_from(in[0], 0, BLOCK, tile, 9));
  }
  for (int n = 0; n < 2; n++)
    check(flick_portal_unlink(&portals[n]) == 0);
}

// More messages than a mailbox has room for, and nobody takes them at first.
static void mail(void) {
  static uint64_t message[15], next[64];
  if (me != 0) {
    struct flick_channel other = flick_channel_to(0, MAIL);
    for (message[0] = 0; message[0] < MESSAGES; message[0]++) {
      message[14] = me * message[0];
      check(flick_mailbox_put(&other, message, FLICK_FOR_EVER) == 0);
    }
    return;
  }
  struct flick_channel own;
  check(flick_mailbox_open(&own, MAIL) == 0);
  flick_thread_sleep(flick_time() + flick_program.frequency / 1000);
  for (uint64_t n = 0; n < MESSAGES * (tiles - 1); n++) {
    struct flick_sender sender;
    check(flick_mailbox_get(&own, message, FLICK_FOR_EVER, &sender) == 0);
    check(message[0] == next[sender.tile]++ && message[14] == sender.tile * message[0]);
  }
  check(flick_mailbox_unlink(&own) == 0);
}

// A write that waits for a consent ends with its time; and consents that are not used are taken
// back.
static void in_vain(void) {
  struct flick_channel other = flick_channel_to((me + 1) % tiles, 20), own;
  check(flick_portal_open(&own, 20) == 0);
  barrier();
  uint64_t soon = flick_time() + flick_program.frequency / 1000;
  check(flick_portal_put(&other, out, 10, soon) == -1 && errno == ETIMEDOUT);
  barrier();
  uint64_t all, before = flick_memory_free(&all);
  for (int n = 0; n < 10; n++) {
    check(flick_portal_consent(&own, (me + 2) % tiles, in, BLOCK) == 0);
    check(flick_portal_unlink(&own) == 0);
    // The port is free when the other kernel has answered.
    uint64_t until = flick_time() + flick_program.frequency / 100;
    while (flick_portal_open(&own, 20) != 0 && errno == EEXIST && flick_time() < until)
      flick_thread_yield();
  }
  check((uint64_t)flick_memory_free(&all) == before);
  check(flick_portal_unlink(&own) == 0);
}

int main(void) {
  me = flick_program.tile;
  tiles = flick_program.tiles;
  uint64_t others = (UINT64_C(1) << tiles) - 2;
  if (tiles > 1) {
    check(flick_sync_open(&gather, FLICK_ALL_TO_ONE, 0, 0, others) == 0);
    check(flick_sync_open(&scatter, FLICK_ONE_TO_ALL, 1, 0, others) == 0);
    check(flick_sync_open(&gather, FLICK_ALL_TO_ONE, 0, 0, others | 1) == -1 && errno == EINVAL);
    check((me == 0 ? flick_sync_signal : flick_sync_wait)(&gather, 0) == -1 && errno == EACCES);
    struct flick_sync unused;
    check(flick_sync_open(&unused, FLICK_ALL_TO_ONE, 7, 0, others) == 0);
    if (me == 0)
      check(flick_sync_wait(&unused, flick_time() + 10) == -1 && errno == ETIMEDOUT);
    check(flick_sync_unlink(&unused) == 0);
  }
  for (int n = 0; n < 3; n++)
    barrier();
  ring();
  barrier();
  to_first();
  barrier();
  mail();
  barrier();
  in_vain();
  barrier();
  // The first cluster adds up.
  static uint64_t message[15];
  struct flick_channel sum = flick_channel_to(0, MAIL);
  if (me == 0)
    flick_mailbox_open(&sum, MAIL);
  else {
    message[0] = bad;
    message[1] = good != 0;
    flick_mailbox_put(&sum, message, FLICK_FOR_EVER);
    return 0;
  }
  for (uint64_t tile = 1; tile < tiles; tile++) {
    flick_mailbox_get(&sum, message, FLICK_FOR_EVER, NULL);
    check(message[0] == 0 && message[1] == 1);
  }
  printf("bad: %d\n", (int)bad);
  return bad != 0;
}
