// The console as files 0, 1 and 2. It has no end, so that a byte says it, as on a terminal: Ctrl-D.
// `flick machine run --program` sends it behind its standard input, and Ctrl-V in front of bytes of
// the input that are one of these two.
#include "console.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "thread.h"

#define CONTROL_D 4
#define CONTROL_V 0x16

static struct card_word reading;
static struct {
  _Alignas(CARD_LINE) bool is_literal;
  bool is_ended;
  // What poll has read.
  size_t kept_size;
  char kept[64];
} input;

// Takes the two bytes out. Returns how many are left.
static size_t translate(unsigned char *bytes, size_t size) {
  size_t kept = 0;
  for (size_t n = 0; n < size; n++) {
    unsigned char byte = bytes[n];
    if (!input.is_literal && byte == CONTROL_V) {
      input.is_literal = true;
      continue;
    }
    if (!input.is_literal && byte == CONTROL_D) {
      input.is_ended = true;
      break;
    }
    input.is_literal = false;
    bytes[kept++] = byte;
  }
  return kept;
}

// The lock is held. Waits until a time for bytes, of which none may be left, or the end.
static int64_t fill(void *buffer, size_t size, uint64_t until, size_t *got) {
  int64_t result = flick_console_read((uintptr_t)buffer, size, until);
  *got = result > 0 ? translate(buffer, result) : 0;
  return result;
}

ssize_t __card_console_read(void *buffer, size_t size) {
  size_t got = 0;
  int64_t result = 0;
  card_lock(&reading.word);
  if (size && input.kept_size) {
    got = size < input.kept_size ? size : input.kept_size;
    memcpy(buffer, input.kept, got);
    input.kept_size -= got;
    memmove(input.kept, input.kept + got, input.kept_size);
  }
  while (size && !got && !input.is_ended) {
    result = fill(buffer, size, FLICK_FOR_EVER, &got);
    if (result <= 0)
      break;
  }
  card_unlock(&reading.word);
  if (result < 0) {
    errno = flick_errno(result);
    return -1;
  }
  return got;
}

bool __card_console_ready(void) {
  // A thread that waits gets the bytes.
  if (!card_try_lock(&reading.word))
    return false;
  if (!input.kept_size && !input.is_ended)
    fill(input.kept, sizeof input.kept, 0, &input.kept_size);
  bool is_ready = input.kept_size || input.is_ended;
  card_unlock(&reading.word);
  return is_ready;
}

ssize_t __card_console_write(const void *bytes, size_t size) {
  int64_t result = flick_console_write((uintptr_t)bytes, size);
  if (result < 0) {
    errno = flick_errno(result);
    return -1;
  }
  return result;
}
