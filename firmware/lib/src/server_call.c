// A program has one mailbox for replies. One of the threads that wait takes messages from it, for
// all of them.
#include "server_call.h"

#include <errno.h>
#include <string.h>

#include "thread.h"

// Requests that may wait at once. All replies have room in the mailbox.
#define MOST_CALLS 31
// Tokens have the number of the call in front of how often it was used.
#define TOKEN_STEP 32
#define MOST_PORTS 1024
// Places of processes. A port that is in use already leads to the next one for the place.
#define PORT_STEP 32

enum { WAITS, IS_ANSWERED, TAKES_MESSAGES };

struct call {
  bool is_used;
  uint32_t token;
  // WAITS, or what its thread does next.
  uint32_t word;
  struct card_reply *reply;
};

char *__card_window;
struct card_word __card_window_lock;

static uint64_t server;
static uint16_t port;
static struct card_word lock;
static struct {
  _Alignas(CARD_LINE) bool is_taking;
  struct call all[MOST_CALLS];
} calls;

void __card_begin_servers(const struct card_spawned_start *start) {
  uint64_t parent;
  server = start->server;
  port = FIRST_REPLY_PORT + (flick_process_self(&parent) & (PORT_STEP - 1));
  while (port < MOST_PORTS && flick_mailbox_create(port) < 0)
    port += PORT_STEP;
  __card_window = (char *)(uintptr_t)start->window;
}

static struct call *begin_call(struct card_request *request, struct card_reply *reply) {
  for (;;) {
    card_lock(&lock.word);
    for (int n = 0; n < MOST_CALLS; n++) {
      struct call *call = &calls.all[n];
      if (call->is_used)
        continue;
      call->is_used = true;
      call->reply = reply;
      call->token += TOKEN_STEP;
      call->word = WAITS;
      request->token = call->token + n;
      request->port = port;
      card_unlock(&lock.word);
      return call;
    }
    card_unlock(&lock.word);
    flick_thread_sleep(flick_time() + flick_program.frequency / 1000);
  }
}

static void wake(struct call *call, uint32_t word) {
  __atomic_store_n(&call->word, word, __ATOMIC_RELEASE);
  card_wake(&call->word, 1);
}

// The lock is held.
static void deliver(const struct card_reply *reply, uint64_t from) {
  uint32_t number = reply->token % TOKEN_STEP;
  struct call *call = &calls.all[number];
  if (from != server || number >= MOST_CALLS || !call->is_used || call->word == IS_ANSWERED ||
      call->token + number != reply->token)
    return;
  *call->reply = *reply;
  wake(call, IS_ANSWERED);
}

// Another thread takes messages from now on.
static void hand_on(void) {
  for (int n = 0; n < MOST_CALLS; n++)
    if (calls.all[n].is_used && calls.all[n].word == WAITS)
      return wake(&calls.all[n], TAKES_MESSAGES);
}

// The lock is held, and is free while it waits.
static int64_t take_message(void) {
  struct card_reply reply;
  uint64_t from;
  calls.is_taking = true;
  card_unlock(&lock.word);
  int64_t result = flick_mailbox_receive(port, (uintptr_t)&reply, FLICK_FOR_EVER, &from);
  card_lock(&lock.word);
  calls.is_taking = false;
  if (result == 0)
    deliver(&reply, from);
  return result;
}

static int64_t await(struct call *call) {
  int64_t result = 0;
  card_lock(&lock.word);
  while (call->word != IS_ANSWERED && result == 0) {
    if (!calls.is_taking) {
      result = take_message();
      continue;
    }
    call->word = WAITS;
    card_unlock(&lock.word);
    card_wait(&call->word, WAITS, FLICK_FOR_EVER);
    card_lock(&lock.word);
  }
  if (!calls.is_taking)
    hand_on();
  return result;
}

// A server that is gone is a device that has failed.
int64_t __card_server_call(struct card_request *request, struct card_reply *reply) {
  if (!card_has_servers())
    return -ENOSYS;
  // Another thread may store the reply, while this one stores to its stack.
  struct {
    _Alignas(CARD_LINE) struct card_reply reply;
  } got;
  struct call *call = begin_call(request, &got.reply);
  int64_t result =
      flick_mailbox_send(server >> 32, SERVER_PORT, (uintptr_t)request, FLICK_FOR_EVER);
  if (result == 0)
    result = await(call);
  else
    card_lock(&lock.word);
  call->is_used = false;
  card_unlock(&lock.word);
  if (result)
    return -EIO;
  *reply = got.reply;
  return reply->result;
}

int64_t __card_window_call(struct card_request *request, struct card_reply *reply, const void *in,
                           uint64_t in_size, void *out, uint64_t out_size) {
  card_lock(&__card_window_lock.word);
  if (in_size)
    memcpy(__card_window, in, in_size);
  int64_t result = __card_server_call(request, reply);
  if (result >= 0 && out_size == SIZE_OF_RESULT)
    out_size = result;
  if (result >= 0 && out_size) {
    card_acquired_bytes(__card_window, out_size);
    memcpy(out, __card_window, out_size);
  }
  card_unlock(&__card_window_lock.word);
  return result;
}
