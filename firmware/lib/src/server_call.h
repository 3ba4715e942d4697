// Requests to the servers, from any thread. A program that runs alone has none.
#pragma once
#include <stdbool.h>

#include "cache.h"
#include "server_protocol.h"

// NULL: there are no servers.
extern char *__card_window;
// Who has the window holds it.
extern struct card_word __card_window_lock;

static inline bool card_has_servers(void) { return __card_window; }

// Sends a request, and waits for its reply. Returns the result.
int64_t __card_server_call(struct card_request *request, struct card_reply *reply);
// The same with data in the window, in front of the call and behind it. Behind it there are at most
// as many bytes as the result says, if `out_size` is SIZE_OF_RESULT.
#define SIZE_OF_RESULT UINT64_MAX
int64_t __card_window_call(struct card_request *request, struct card_reply *reply, const void *in,
                           uint64_t in_size, void *out, uint64_t out_size);

// At the start of a program.
void __card_begin_servers(const struct card_spawned_start *start);
