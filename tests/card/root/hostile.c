// Functions of accelerators: one that is right, and one that does as its input says, whatever that
// is.
#include <flick_accelerator.h>

FLICK_ACCELERATOR(copy);
struct flick_computed copy(const struct flick_block *block) {
  return (struct flick_computed){.size = block->size};
}

// How many cycles it takes, if it is to end. Others read what is no number of cycles as one.
enum { MOST = 10000, ENDLESS = 0xe4d1e55 };

FLICK_ACCELERATOR(obeys);
struct flick_computed obeys(const struct flick_block *block) {
  const uint64_t *words = (const uint64_t *)block->memory;
  if (block->size < 16)
    return (struct flick_computed){.size = 0};
  uint64_t cycles = words[1] == ENDLESS ? UINT64_MAX : words[1] % MOST;
  return (struct flick_computed){.size = words[0], .cycles = cycles};
}
