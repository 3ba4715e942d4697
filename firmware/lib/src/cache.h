// Caches that are not coherent. There a load can have an old value, until the hart drops its line.
// Where they write back, a line goes to memory as a whole, with all that the hart did not store: so
// what others change meanwhile has lines of its own.
#pragma once
#include <flick/card.h>
#include <stddef.h>

#define CARD_LINE 64ul
// `incoherent` of flick_program.
#define CARD_WRITES_BACK 2

// A word in a line of its own: a lock, or what atomic operations change and others wait for. These
// act on memory.
struct card_word {
  _Alignas(CARD_LINE) uint32_t word;
};

// After another thread's stores were awaited: loads see them.
static inline void card_acquired(void) {
  if (flick_program.incoherent)
    flick_cache_refresh();
}

// Before another thread is told of stores: memory gets them. Each call of the kernel does this,
// too.
static inline void card_releasing(void) {
  if (flick_program.incoherent == CARD_WRITES_BACK)
    flick_cache_refresh();
}

// As card_acquired, of this memory alone, which may be another process's, too.
void __card_refresh(const void *start, size_t size);

static inline void card_acquired_bytes(const void *start, size_t size) {
  if (flick_program.incoherent)
    __card_refresh(start, size);
}

// A word that others store to. An atomic operation acts on memory, a load on the hart's cache.
static inline uint32_t card_load(uint32_t *word) {
  if (flick_program.incoherent)
    return __atomic_fetch_or(word, 0, __ATOMIC_SEQ_CST);
  return __atomic_load_n(word, __ATOMIC_SEQ_CST);
}
