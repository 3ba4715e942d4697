// Mailboxes and portals, with what has gone through them.
#include <flick/channels.h>

#include "channels.h"

// A transfer has ended: it counts if it has gone well.
static ptrdiff_t count(struct flick_channel *channel, uint64_t begun, int64_t result,
                       uint64_t bytes) {
  if (result < 0)
    return card_result(result);
  channel->transfers++;
  channel->bytes += bytes;
  channel->ticks += flick_time() - begun;
  return bytes;
}

int __card_wait_for_port(uint64_t until) {
  uint64_t pause = flick_time() + flick_program.frequency / 10000 + 1;
  if (until <= flick_time())
    return 0;
  flick_thread_sleep(pause < until ? pause : until);
  return 1;
}

int64_t __card_send(uint64_t tile, uint64_t port, const void *message, uint64_t until) {
  int64_t result;
  do
    result = flick_mailbox_send(tile, port, (uintptr_t)message, until);
  while (result == -FLICK_ENOENT && __card_wait_for_port(until));
  return result;
}

static int open(struct flick_channel *channel, uint64_t port, int64_t result) {
  if (result >= 0)
    *channel = flick_channel_to(flick_program.tile, port);
  return card_result(result);
}

int flick_mailbox_open(struct flick_channel *channel, uint64_t port) {
  return open(channel, port, port < FLICK_PORTS ? flick_mailbox_create(port) : -FLICK_EINVAL);
}

int flick_mailbox_unlink(struct flick_channel *channel) {
  return card_result(flick_mailbox_close(channel->port));
}

int flick_mailbox_get(struct flick_channel *channel, void *message, uint64_t until,
                      struct flick_sender *sender) {
  uint64_t begun = flick_time(), from = 0;
  int64_t result = flick_mailbox_receive(channel->port, (uintptr_t)message, until, &from);
  if (sender)
    *sender = (struct flick_sender){.process = from, .tile = from >> 32};
  return count(channel, begun, result, FLICK_MESSAGE_MAX) < 0 ? -1 : 0;
}

int flick_mailbox_put(struct flick_channel *channel, const void *message, uint64_t until) {
  uint64_t begun = flick_time();
  int64_t result = __card_send(channel->tile, channel->port, message, until);
  return count(channel, begun, result, FLICK_MESSAGE_MAX) < 0 ? -1 : 0;
}

int flick_portal_open(struct flick_channel *channel, uint64_t port) {
  return open(channel, port, flick_portal_create(port));
}

int flick_portal_unlink(struct flick_channel *channel) {
  return card_result(flick_portal_close(channel->port));
}

int flick_portal_consent(struct flick_channel *channel, uint64_t tile, void *buffer, size_t size) {
  return card_result(flick_portal_allow(channel->port, tile << 32, (uintptr_t)buffer, size));
}

ptrdiff_t flick_portal_get(struct flick_channel *channel, uint64_t until) {
  uint64_t begun = flick_time(), bytes = 0;
  int64_t result = flick_portal_read(channel->port, until, &bytes);
  return count(channel, begun, result, bytes);
}

int flick_portal_put(struct flick_channel *channel, const void *data, size_t size, uint64_t until) {
  uint64_t begun = flick_time();
  int64_t result;
  do
    result = flick_portal_write(channel->tile, channel->port, (uintptr_t)data, size, until);
  while (result == -FLICK_ENOENT && __card_wait_for_port(until));
  return count(channel, begun, result, size) < 0 ? -1 : 0;
}

// Requests.

static int start(struct flick_channel *channel, struct flick_request *request, uint64_t call,
                 const uint64_t arguments[6]) {
  int result = flick_request_start(request, call, arguments);
  request->channel = channel;
  return result;
}

int flick_mailbox_start_get(struct flick_channel *channel, void *message,
                            struct flick_request *request) {
  uint64_t arguments[6] = {channel->port, (uintptr_t)message, FLICK_FOR_EVER};
  return start(channel, request, FLICK_CALL_MAILBOX_RECEIVE, arguments);
}

int flick_mailbox_start_put(struct flick_channel *channel, const void *message,
                            struct flick_request *request) {
  uint64_t arguments[6] = {channel->tile, channel->port, (uintptr_t)message, FLICK_FOR_EVER};
  return start(channel, request, FLICK_CALL_MAILBOX_SEND, arguments);
}

int flick_portal_start_get(struct flick_channel *channel, struct flick_request *request) {
  uint64_t arguments[6] = {channel->port, FLICK_FOR_EVER};
  return start(channel, request, FLICK_CALL_PORTAL_READ, arguments);
}

int flick_portal_start_put(struct flick_channel *channel, const void *data, size_t size,
                           struct flick_request *request) {
  uint64_t arguments[6] = {channel->tile, channel->port, (uintptr_t)data, size, FLICK_FOR_EVER};
  return start(channel, request, FLICK_CALL_PORTAL_WRITE, arguments);
}

// A put to a port that is not there yet is made again.
static int64_t end_request(struct flick_request *request, uint64_t until) {
  for (;;) {
    int64_t result = __card_request_end(request, until);
    int is_put =
        request->call == FLICK_CALL_MAILBOX_SEND || request->call == FLICK_CALL_PORTAL_WRITE;
    if (result != -FLICK_ENOENT || !is_put || !request->channel || !__card_wait_for_port(until))
      return result;
    if (__card_request_start(request) < 0)
      return -FLICK_ENOENT;
  }
}

ptrdiff_t flick_request_wait(struct flick_request *request, uint64_t until) {
  int64_t result = end_request(request, until);
  if (result == -FLICK_ETIMEDOUT && request->thread != 0)
    return card_result(result);
  if (!request->channel)
    return result < 0 ? card_result(result) : result;
  uint64_t bytes = request->arguments[3];
  if (request->call == FLICK_CALL_PORTAL_READ)
    bytes = request->results[1];
  else if (request->call != FLICK_CALL_PORTAL_WRITE)
    bytes = FLICK_MESSAGE_MAX;
  return count(request->channel, request->begun, result, bytes);
}
