// What the library knows of a thread, and waits at an address.
#pragma once
#include <elf.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "cache.h"

// The record of a thread is right below its thread-local data, at which tp points.
struct __card_thread {
  // Words that other threads change meanwhile, too.
  _Alignas(CARD_LINE) int64_t number;
  // Who frees it: a thread that joins, or after its end the thread that starts another one.
  uint32_t state;
  // What was mapped for it; the first thread's is not ours.
  _Alignas(CARD_LINE) void *memory;
  uint64_t size;
  void *(*entry)(void *);
  void *argument;
  struct __card_thread *next;
  // Refusals of pthread_mutex_trylock since it last took a mutex.
  uint32_t refusals;
  void *specific[PTHREAD_KEYS_MAX];
};

static inline struct __card_thread *card_thread(void) {
  char *tp;
  __asm__("mv %0, tp" : "=r"(tp));
  return (struct __card_thread *)tp - 1;
}

// The program's segment of a type, or NULL.
const Elf64_Phdr *__card_segment(uint32_t type);
// Gives the first thread its thread-local data.
void __card_first_thread(void);
// Destructors of keys.
void __card_end_keys(struct __card_thread *thread);

static inline int64_t card_wait(uint32_t *word, uint32_t value, uint64_t until) {
  return flick_thread_wait_on((uint64_t)(uintptr_t)word, value, until);
}

static inline void card_wake(uint32_t *word, uint64_t most) {
  flick_thread_wake_on((uint64_t)(uintptr_t)word, most);
}

// A lock of one word: 0 free, 1 held, 2 held and threads may wait.
static inline bool card_try_lock(uint32_t *word) {
  uint32_t free = 0;
  return __atomic_compare_exchange_n(word, &free, 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}
int64_t __card_lock_slow(uint32_t *word, uint64_t until);

// 0, or the kernel's error when the time is over.
static inline int64_t card_lock_until(uint32_t *word, uint64_t until) {
  int64_t result = card_try_lock(word) ? 0 : __card_lock_slow(word, until);
  card_acquired();
  return result;
}

static inline void card_lock(uint32_t *word) { card_lock_until(word, FLICK_FOR_EVER); }

static inline void card_unlock(uint32_t *word) {
  card_releasing();
  if (__atomic_exchange_n(word, 0, __ATOMIC_RELEASE) == 2)
    card_wake(word, 1);
}
