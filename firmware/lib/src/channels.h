// What the files of channels share.
#pragma once
#include <flick/channels.h>

// What a function returns for a call's result: 0, or -1 with errno.
static inline int card_result(int64_t result) {
  if (result >= 0)
    return 0;
  errno = flick_errno(result);
  return -1;
}

// A port is not there yet. Waits for some time; 0: the time is over.
int __card_wait_for_port(uint64_t until);

// flick_mailbox_send, which waits for the mailbox if it is not there yet.
int64_t __card_send(uint64_t tile, uint64_t port, const void *message, uint64_t until);

// Starts the thread of a request.
int __card_request_start(struct flick_request *request);

// Waits for the end of a request's call; `thread` is 0 from then on. The call's result.
int64_t __card_request_end(struct flick_request *request, uint64_t until);
