/* Logic of accelerators (docs/accelerators.md). A shared object with a function like this one adds
 * an accelerator to a simulated machine; docs/guide-accelerator.md shows each step.
 *
 *   #include <flick_accelerator.h>
 *
 *   FLICK_ACCELERATOR(inverter);
 *
 *   struct flick_computed inverter(const struct flick_block *block) {
 *     for (uint64_t n = 0; n < block->size; n++)
 *       block->memory[n] = ~block->memory[n];
 *     return (struct flick_computed){.size = block->size, .cycles = block->size / 8};
 *   }
 *
 *   cc -shared -fPIC -O2 -o inverter.so inverter.c
 *
 * The tile's [tile.accelerator] in the machine file has these keys:
 *
 *   library = "inverter.so"
 *   function = "inverter"
 *
 * A function keeps nothing but what is in the local memory: another activity may use the
 * accelerator between two blocks. What it does depends on that memory alone, so that runs
 * repeat. */
#ifndef FLICK_ACCELERATOR_H
#define FLICK_ACCELERATOR_H

#include <stdint.h>

/* The version of this interface. A machine refuses functions of another one. */
#define FLICK_ACCELERATOR_ABI 1

struct flick_block {
  /* The local memory, which begins with the block, and is aligned to 16 bytes. What is behind the
   * block belongs to the function. It is 0 at first, unless another tile writes there. */
  unsigned char *memory;
  /* Bytes of the local memory. */
  uint64_t memory_size;
  /* Bytes of the block. All blocks but the last are whole, and the last one may be empty. */
  uint64_t size;
  /* 1: no other block follows; else 0. */
  uint64_t is_last;
};

struct flick_computed {
  /* Bytes of output, from the start of the local memory on; or FLICK_FAILED. */
  uint64_t size;
  /* Cycles of the computation; 0: as many as the machine file says for a block. */
  uint64_t cycles;
};

/* The function cannot compute the block: the activity ends with an error. */
#define FLICK_FAILED UINT64_MAX

#ifdef __cplusplus
#define FLICK_ACCELERATOR_C extern "C" __attribute__((visibility("default")))
#else
#define FLICK_ACCELERATOR_C extern __attribute__((visibility("default")))
#endif

/* Declares the function of an accelerator, and has the version that it is compiled for. It stands
 * once, before the function. A second function may say how many bytes of local memory the first one
 * needs with blocks of so many bytes; without it, a block is enough. */
#define FLICK_ACCELERATOR(name)                                                                    \
  FLICK_ACCELERATOR_C uint64_t flick_accelerator_memory_##name(uint64_t block);                    \
  FLICK_ACCELERATOR_C uint32_t flick_accelerator_abi_##name;                                       \
  uint32_t flick_accelerator_abi_##name = FLICK_ACCELERATOR_ABI;                                   \
  FLICK_ACCELERATOR_C struct flick_computed name(const struct flick_block *block)

#endif
