// The locks of the C library (picolibc's sys/lock.h), and the slow path of all locks.
#include <stdlib.h>
#include <sys/lock.h>

#include "thread.h"

int64_t __card_lock_slow(uint32_t *word, uint64_t until) {
  // What holds the lock for a moment is often gone before the kernel has answered.
  for (int n = 0; n < 64; n++)
    if (card_load(word) == 0 && card_try_lock(word))
      return 0;
  while (__atomic_exchange_n(word, 2, __ATOMIC_ACQUIRE) != 0) {
    int64_t result = card_wait(word, 2, until);
    if (result == -FLICK_ETIMEDOUT)
      return result;
  }
  return 0;
}

struct __lock {
  struct card_word word;
  uint32_t depth;
  struct __card_thread *owner;
};

struct __lock __lock___libc_recursive_mutex;

// Streams whose lock nobody has made are locked by this one.
static struct __lock common;

static struct __lock *lock_of(_LOCK_T lock) { return lock ? lock : &common; }

void __retarget_lock_init(_LOCK_T *lock) { *lock = calloc(1, sizeof **lock); }
void __retarget_lock_init_recursive(_LOCK_T *lock) { __retarget_lock_init(lock); }
void __retarget_lock_close(_LOCK_T lock) { free(lock); }
void __retarget_lock_close_recursive(_LOCK_T lock) { free(lock); }
void __retarget_lock_acquire(_LOCK_T lock) { card_lock(&lock_of(lock)->word.word); }
int __retarget_lock_try_acquire(_LOCK_T lock) {
  if (!card_try_lock(&lock_of(lock)->word.word))
    return 0;
  card_acquired();
  return 1;
}
void __retarget_lock_release(_LOCK_T lock) { card_unlock(&lock_of(lock)->word.word); }

void __retarget_lock_acquire_recursive(_LOCK_T lock) {
  struct __card_thread *self = card_thread();
  if (__atomic_load_n(&lock->owner, __ATOMIC_RELAXED) != self) {
    card_lock(&lock->word.word);
    __atomic_store_n(&lock->owner, self, __ATOMIC_RELAXED);
  }
  lock->depth++;
}

int __retarget_lock_try_acquire_recursive(_LOCK_T lock) {
  struct __card_thread *self = card_thread();
  if (__atomic_load_n(&lock->owner, __ATOMIC_RELAXED) != self) {
    if (!card_try_lock(&lock->word.word))
      return 0;
    card_acquired();
    __atomic_store_n(&lock->owner, self, __ATOMIC_RELAXED);
  }
  lock->depth++;
  return 1;
}

void __retarget_lock_release_recursive(_LOCK_T lock) {
  if (--lock->depth)
    return;
  __atomic_store_n(&lock->owner, NULL, __ATOMIC_RELAXED);
  card_unlock(&lock->word.word);
}
