// Requests to a server of files, and their answers.
#pragma once
#include <errno.h>
#include <flick/files.h>

// Words of an answer.
struct server_answer {
  uint64_t words[15];
};

static inline int server_fails(int error) {
  errno = error;
  return -1;
}

// The capabilities of a client go with its server.
static inline int server_kernel_fails(int64_t result) {
  return server_fails(result == -FLICK_ENOENT ? EOWNERDEAD : flick_errno(result));
}

// The time behind a part of a second.
static inline uint64_t server_soon(uint64_t part) {
  return flick_time() + flick_program.frequency / part;
}

// By a session, or by the sender of an open file. -1: it fails, or the server refuses it.
int __card_ask_server(uint64_t way, uint64_t operation, uint64_t a, uint64_t b,
                      struct server_answer *answer);
