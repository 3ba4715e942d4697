// Functions of accelerators: one that is right, and one that does as its input says, whatever that
// is.
#include <flick_accelerator.h>

FLICK_ACCELERATOR(copy);
struct flick_computed copy(const struct flick_block *block) {
  return (struct flick_computed){.size = block->size};
}

FLICK_ACCELERATOR(obeys);
struct flick_computed obeys(const struct flick_block *block) {
  const uint64_t *words = (const uint64_t *)block->memory;
  if (block->size < 16)
    return (struct flick_computed){.size = 0};
  return (struct flick_computed){.size = words[0], .cycles = words[1]};
}
