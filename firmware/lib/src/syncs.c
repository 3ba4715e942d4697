// Signals of one tile to all of a set, or of all to one. A signal is a message to a mailbox behind
// the ports of programs, and whoever waits counts those of each tile.
#include <stdbool.h>

#include "channels.h"

static uint64_t bit(uint64_t tile) { return tile < 64 ? UINT64_C(1) << tile : 0; }

// Whose signals this tile waits for.
static uint64_t awaited(const struct flick_sync *sync) {
  bool is_one = sync->one == flick_program.tile;
  if (is_one != (sync->kind == FLICK_ALL_TO_ONE))
    return 0;
  return is_one ? sync->all : bit(sync->one);
}

int flick_sync_open(struct flick_sync *sync, enum flick_sync_kind kind, uint64_t port, uint64_t one,
                    uint64_t all) {
  uint64_t members = all | bit(one);
  if (port >= FLICK_PORTS || all == 0 || bit(one) == 0 || (all & bit(one)) != 0 ||
      (members & bit(flick_program.tile)) == 0 || members >> 1 >= bit(flick_program.tiles - 1))
    return card_result(-FLICK_EINVAL);
  *sync = (struct flick_sync){.kind = kind, .one = one, .all = all, .port = FLICK_PORTS + port};
  return card_result(awaited(sync) ? flick_mailbox_create(sync->port) : 0);
}

int flick_sync_unlink(struct flick_sync *sync) {
  return card_result(awaited(sync) ? flick_mailbox_close(sync->port) : 0);
}

int flick_sync_signal(struct flick_sync *sync, uint64_t until) {
  static const uint64_t message[FLICK_MESSAGE_MAX / 8] __attribute__((aligned(64)));
  if (awaited(sync))
    return card_result(-FLICK_EACCES);
  uint64_t begun = flick_time();
  uint64_t to = sync->kind == FLICK_ONE_TO_ALL ? sync->all : bit(sync->one);
  for (uint64_t tile = 0; tile < 64; tile++) {
    if ((to & bit(tile)) == 0)
      continue;
    int64_t result = __card_send(tile, sync->port, message, until);
    if (result < 0)
      return card_result(result);
  }
  sync->transfers++;
  sync->ticks += flick_time() - begun;
  return 0;
}

static bool is_complete(const struct flick_sync *sync, uint64_t tiles) {
  for (uint64_t tile = 0; tile < 64; tile++)
    if ((tiles & bit(tile)) != 0 && sync->signals[tile] == 0)
      return false;
  return true;
}

int flick_sync_wait(struct flick_sync *sync, uint64_t until) {
  uint64_t tiles = awaited(sync), begun = flick_time();
  if (tiles == 0)
    return card_result(-FLICK_EACCES);
  while (!is_complete(sync, tiles)) {
    uint64_t message[FLICK_MESSAGE_MAX / 8], sender;
    int64_t result = flick_mailbox_receive(sync->port, (uintptr_t)message, until, &sender);
    if (result < 0)
      return card_result(result);
    if (sender >> 32 < 64)
      sync->signals[sender >> 32]++;
  }
  for (uint64_t tile = 0; tile < 64; tile++)
    if ((tiles & bit(tile)) != 0)
      sync->signals[tile]--;
  sync->transfers++;
  sync->ticks += flick_time() - begun;
  return 0;
}
