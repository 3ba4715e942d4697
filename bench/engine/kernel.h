/* Kernels of `flick bench engine`: code that computes and calls nothing outside its file, so that
 * every engine runs the same source. Each returns a checksum, which is the same everywhere. */
#ifndef KERNEL_H
#define KERNEL_H

#include <stddef.h>
#include <stdint.h>

/* WORK scales with time. A kernel makes its data in its first call. */
typedef uint64_t kernel_function(uint64_t work);

/* Each in the file of its name. */
kernel_function integer, recursion, indirect, chase_cache, chase_memory, crc32, sort, sha256,
    matrix, nbody, bfs, bytecode, strings, hashing, mix;

/* Knuth's MMIX generator with the upper bits folded in; the state is the caller's. */
static inline uint64_t next_random(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return *state ^ *state >> 29;
}

/* One step of FNV-1a over whole words. */
static inline uint64_t fold(uint64_t checksum, uint64_t value) {
  return (checksum ^ value) * 0x100000001b3u;
}

#endif
