// The console as files 0, 1 and 2. It has no end, so that a byte says it, as on a terminal: Ctrl-D.
// `flick machine run --program` sends it behind its standard input, and Ctrl-V in front of bytes of
// the input that are one of these two.
#include "console.h"

#include <errno.h>
#include <stdbool.h>

#include "thread.h"

#define CONTROL_D 4
#define CONTROL_V 0x16

static struct card_word reading;
static struct {
  _Alignas(CARD_LINE) bool is_literal;
  bool is_ended;
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

ssize_t __card_console_read(void *buffer, size_t size) {
  size_t got = 0;
  int64_t result = 0;
  card_lock(&reading.word);
  while (size && !got && !input.is_ended) {
    result = flick_console_read((uintptr_t)buffer, size, FLICK_FOR_EVER);
    if (result <= 0)
      break;
    got = translate(buffer, result);
  }
  card_unlock(&reading.word);
  if (result < 0) {
    errno = flick_errno(result);
    return -1;
  }
  return got;
}

ssize_t __card_console_write(const void *bytes, size_t size) {
  int64_t result = flick_console_write((uintptr_t)bytes, size);
  if (result < 0) {
    errno = flick_errno(result);
    return -1;
  }
  return result;
}
