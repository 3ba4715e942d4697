// Functions for accelerators: one that is right, and some that are wrong.
#include <flick_accelerator.h>

FLICK_ACCELERATOR(upper);
struct flick_computed upper(const struct flick_block *block) {
  for (uint64_t n = 0; n < block->size; n++)
    if (block->memory[n] >= 'a' && block->memory[n] <= 'z')
      block->memory[n] -= 'a' - 'A';
  return (struct flick_computed){.size = block->size};
}

// What it gets: blocks of 16 bytes, the last one shorter, in aligned memory that it may keep
// something in. The output of each is a line, and only the last one has what was counted.
FLICK_ACCELERATOR(counts);
struct flick_computed counts(const struct flick_block *block) {
  uint64_t *kept = (uint64_t *)(block->memory + block->memory_size) - 1;
  if (block->memory_size != 4096 || (uint64_t)block->memory % 16 ||
      (block->size != 16 && !block->is_last))
    return (struct flick_computed){.size = FLICK_FAILED};
  *kept += block->size;
  if (!block->is_last)
    return (struct flick_computed){.cycles = 1000000};
  uint64_t size = 0;
  for (uint64_t digit = 1000; digit; digit /= 10)
    block->memory[size++] = '0' + *kept / digit % 10;
  block->memory[size++] = '\n';
  return (struct flick_computed){.size = size, .cycles = 1};
}

uint64_t flick_accelerator_memory_counts(uint64_t block) { return block + 8; }

FLICK_ACCELERATOR(too_much);
struct flick_computed too_much(const struct flick_block *block) {
  return (struct flick_computed){.size = block->memory_size + 1};
}

FLICK_ACCELERATOR(fails);
struct flick_computed fails(const struct flick_block *block) {
  (void)block;
  return (struct flick_computed){.size = FLICK_FAILED};
}

struct flick_computed unmarked(const struct flick_block *block);
struct flick_computed unmarked(const struct flick_block *block) {
  return (struct flick_computed){.size = block->size};
}

uint32_t flick_accelerator_abi_newer = FLICK_ACCELERATOR_ABI + 1;
struct flick_computed newer(const struct flick_block *block);
struct flick_computed newer(const struct flick_block *block) { return unmarked(block); }
