/* What programs of a card tell each other, in one tile and between tiles (docs/card-programs.md):
   messages of 120 bytes, data that goes straight to a buffer, and signals. Each function returns -1
   and sets errno if it fails, as docs/kernel-calls.md says for the call of its name. A time is a
   value of flick_time, or FLICK_FOR_EVER. */
#pragma once
#include <flick/card.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define FLICK_MESSAGE_MAX 120
#define FLICK_PORTAL_MAX (1u << 20)
/* Ports of mailboxes, portals and syncs are below this number, each kind with its own. */
#define FLICK_PORTS 1024

/* A mailbox or portal as one side uses it, and what has gone through it: transfers, their bytes,
   and the ticks of flick_time that the calls have taken. */
struct flick_channel {
  uint64_t tile, port;
  uint64_t transfers, bytes, ticks;
};

/* Who has sent a message. */
struct flick_sender {
  uint32_t process, tile;
};

/* Makes a mailbox of this tile, and removes it. */
int flick_mailbox_open(struct flick_channel *channel, uint64_t port);
int flick_mailbox_unlink(struct flick_channel *channel);
/* Takes a message; 120 bytes are stored, at a multiple of 8. */
int flick_mailbox_get(struct flick_channel *channel, void *message, uint64_t until,
                      struct flick_sender *sender);
/* Sends 120 bytes, at a multiple of 8. The mailbox need not be there yet: the call waits for it. */
int flick_mailbox_put(struct flick_channel *channel, const void *message, uint64_t until);

/* Makes a portal of this tile, and removes it. */
int flick_portal_open(struct flick_channel *channel, uint64_t port);
int flick_portal_unlink(struct flick_channel *channel);
/* Consents to one write to a buffer, by a program of a tile. EBUSY: there is a consent. */
int flick_portal_consent(struct flick_channel *channel, uint64_t tile, void *buffer, size_t size);
/* Waits for the data; returns its bytes. EACCES: there is no consent. */
ptrdiff_t flick_portal_get(struct flick_channel *channel, uint64_t until);
/* Waits for a consent, and writes. The portal need not be there yet. */
int flick_portal_put(struct flick_channel *channel, const void *data, size_t size, uint64_t until);

/* To send to: the mailbox or portal of a port of a tile. */
static inline struct flick_channel flick_channel_to(uint64_t tile, uint64_t port) {
  struct flick_channel channel = {tile, port, 0, 0, 0};
  return channel;
}

/* One tile signals all others of a set, or waits for all of them. */
enum flick_sync_kind { FLICK_ONE_TO_ALL, FLICK_ALL_TO_ONE };

struct flick_sync {
  enum flick_sync_kind kind;
  uint64_t one, all, port;
  /* Signals that have come and that no wait has taken, by tile. */
  uint32_t signals[64];
  uint64_t transfers, ticks;
};

/* `one` is a tile, and `all` has a bit for each other tile. Each of these tiles opens it. */
int flick_sync_open(struct flick_sync *sync, enum flick_sync_kind kind, uint64_t port, uint64_t one,
                    uint64_t all);
int flick_sync_unlink(struct flick_sync *sync);
int flick_sync_signal(struct flick_sync *sync, uint64_t until);
/* Waits for a signal of `one`, or for one of each of `all`. ETIMEDOUT: what has come is kept. */
int flick_sync_wait(struct flick_sync *sync, uint64_t until);

/* A kernel call that goes on while the caller does other things. The structure belongs to the call
   until flick_request_wait has returned. */
struct flick_request {
  uint64_t call, arguments[6], results[2], thread;
  struct flick_channel *channel;
  uint64_t begun;
} __attribute__((aligned(64)));

int flick_request_start(struct flick_request *request, uint64_t call, const uint64_t arguments[6]);
/* Waits for the end of the call. ETIMEDOUT: it goes on. Else the result of the call. */
ptrdiff_t flick_request_wait(struct flick_request *request, uint64_t until);

/* The calls above, without a wait: flick_request_wait has their results. */
int flick_mailbox_start_get(struct flick_channel *channel, void *message,
                            struct flick_request *request);
int flick_mailbox_start_put(struct flick_channel *channel, const void *message,
                            struct flick_request *request);
int flick_portal_start_get(struct flick_channel *channel, struct flick_request *request);
int flick_portal_start_put(struct flick_channel *channel, const void *data, size_t size,
                           struct flick_request *request);

#ifdef __cplusplus
}
#endif
