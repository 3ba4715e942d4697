// Between the calls of POSIX for files and what executes them.
#pragma once
#include <errno.h>
#include <stddef.h>

#include "server_protocol.h"

// What goes along with a request, in both directions.
struct file_bytes {
  const void *in;
  size_t in_size;
  void *out;
  // Or SIZE_OF_RESULT.
  uint64_t out_size;
};

int64_t __card_file_call(uint32_t operation, const uint64_t *arguments, struct file_bytes bytes);
// A number is the same as another from now on, or none of the console if that is negative.
void __card_note_file(int number, int same);

#define CALL(operation, bytes, ...) __card_file_call(operation, (uint64_t[3]){__VA_ARGS__}, bytes)
#define NO_BYTES ((struct file_bytes){0})

static inline int64_t card_result(int64_t result) {
  if (result >= 0)
    return result;
  errno = -result;
  return -1;
}

struct stat;
int __card_describe_file(const struct card_file_about *from, struct stat *about);

// At the start of a program. `spawned`: NULL if it runs alone.
void __card_begin_files(const struct card_spawned_start *spawned);
