// What the files of channels share.
#pragma once
#include <flick/channels.h>

// A port is not there yet. Waits for some time; 0: the time is over.
int __card_wait_for_port(uint64_t until);

// Starts the thread of a request.
int __card_request_start(struct flick_request *request);

// Waits for the end of a request's call; `thread` is 0 from then on. The call's result.
int64_t __card_request_end(struct flick_request *request, uint64_t until);
