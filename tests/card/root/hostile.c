// Functions of accelerators that do what they should not: sizes of any kind, failures at each
// block, and none that ends.
#include <flick_accelerator.h>

FLICK_ACCELERATOR(copy);
struct flick_computed copy(const struct flick_block *block) {
  return (struct flick_computed){.size = block->size};
}
