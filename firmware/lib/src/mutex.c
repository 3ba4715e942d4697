// Mutexes and locks for readers and writers. What they hold changes by atomic operations alone:
// where caches write back, a store would undo what others do to the line.
#include <errno.h>

#include "card_time.h"
#include "thread.h"

int pthread_mutexattr_init(pthread_mutexattr_t *attributes) {
  attributes->kind = PTHREAD_MUTEX_NORMAL;
  return 0;
}

int pthread_mutexattr_destroy(pthread_mutexattr_t *attributes) {
  (void)attributes;
  return 0;
}

int pthread_mutexattr_settype(pthread_mutexattr_t *attributes, int kind) {
  if (kind < PTHREAD_MUTEX_NORMAL || kind > PTHREAD_MUTEX_ERRORCHECK)
    return EINVAL;
  attributes->kind = kind;
  return 0;
}

int pthread_mutexattr_gettype(const pthread_mutexattr_t *attributes, int *kind) {
  *kind = attributes->kind;
  return 0;
}

int pthread_mutex_init(pthread_mutex_t *restrict mutex,
                       const pthread_mutexattr_t *restrict attributes) {
  *mutex = (pthread_mutex_t){.kind = attributes ? attributes->kind : PTHREAD_MUTEX_NORMAL};
  return 0;
}

int pthread_mutex_destroy(pthread_mutex_t *mutex) {
  return __atomic_load_n(&mutex->word, __ATOMIC_RELAXED) ? EBUSY : 0;
}

static pthread_t owner_of(pthread_mutex_t *mutex) {
  return __atomic_load_n(&mutex->owner, __ATOMIC_RELAXED);
}

// Does the caller hold it? Then the answer of a lock is in `result`.
static bool is_held(pthread_mutex_t *mutex, int *result) {
  if (mutex->kind == PTHREAD_MUTEX_NORMAL || owner_of(mutex) != card_thread())
    return false;
  bool is_recursive = mutex->kind == PTHREAD_MUTEX_RECURSIVE;
  if (is_recursive)
    __atomic_fetch_add(&mutex->depth, 1, __ATOMIC_RELAXED);
  *result = is_recursive ? 0 : EDEADLK;
  return true;
}

static void own(pthread_mutex_t *mutex) {
  if (mutex->kind != PTHREAD_MUTEX_NORMAL)
    __atomic_exchange_n(&mutex->owner, card_thread(), __ATOMIC_RELAXED);
}

static int lock_until(pthread_mutex_t *mutex, uint64_t until) {
  int result;
  if (is_held(mutex, &result))
    return result;
  if (card_lock_until(&mutex->word, until))
    return ETIMEDOUT;
  own(mutex);
  return 0;
}

int pthread_mutex_lock(pthread_mutex_t *mutex) { return lock_until(mutex, FLICK_FOR_EVER); }

int pthread_mutex_timedlock(pthread_mutex_t *restrict mutex, const struct timespec *restrict time) {
  return lock_until(mutex, __card_ticks(time));
}

// Harts of a simulated machine are in lockstep. std::lock tries again until no mutex is refused, so
// two threads that take the same mutexes in other orders can refuse each other for ever. A thread
// that is refused many times therefore pauses, each thread for times of its own.
static void refused(struct __card_thread *thread) {
  enum { PATIENCE = 8 };
  if (++thread->refusals <= PATIENCE)
    return;
  uint32_t pause = (uint32_t)thread->number * thread->refusals * 2654435761u >> 22;
  while (pause--)
    __asm__ volatile("");
}

int pthread_mutex_trylock(pthread_mutex_t *mutex) {
  int result;
  if (is_held(mutex, &result))
    return result == EDEADLK ? EBUSY : result;
  if (!card_try_lock(&mutex->word)) {
    refused(card_thread());
    return EBUSY;
  }
  card_thread()->refusals = 0;
  card_acquired();
  own(mutex);
  return 0;
}

int pthread_mutex_unlock(pthread_mutex_t *mutex) {
  if (mutex->kind != PTHREAD_MUTEX_NORMAL) {
    if (owner_of(mutex) != card_thread())
      return EPERM;
    if (mutex->depth) {
      __atomic_fetch_sub(&mutex->depth, 1, __ATOMIC_RELAXED);
      return 0;
    }
    __atomic_exchange_n(&mutex->owner, NULL, __ATOMIC_RELAXED);
  }
  card_unlock(&mutex->word);
  return 0;
}

// The state of a lock for readers and writers: how many readers hold it, or this.
#define WRITER UINT32_MAX

int pthread_rwlock_init(pthread_rwlock_t *restrict lock,
                        const pthread_rwlockattr_t *restrict attributes) {
  (void)attributes;
  *lock = (pthread_rwlock_t){0};
  return 0;
}

int pthread_rwlock_destroy(pthread_rwlock_t *lock) {
  return __atomic_load_n(&lock->state, __ATOMIC_RELAXED) ? EBUSY : 0;
}

// One try. What the state was goes to `found`.
static bool try_state(pthread_rwlock_t *lock, bool is_writer, uint32_t *found) {
  *found = card_load(&lock->state);
  while (is_writer ? *found == 0 : *found < WRITER - 1) {
    uint32_t next = is_writer ? WRITER : *found + 1;
    if (__atomic_compare_exchange_n(&lock->state, found, next, false, __ATOMIC_ACQUIRE,
                                    __ATOMIC_RELAXED)) {
      card_acquired();
      return true;
    }
  }
  return false;
}

static int lock_state(pthread_rwlock_t *lock, bool is_writer, uint64_t until) {
  uint32_t found;
  while (!try_state(lock, is_writer, &found)) {
    __atomic_fetch_add(&lock->waiters, 1, __ATOMIC_SEQ_CST);
    int64_t result = card_wait(&lock->state, found, until);
    __atomic_fetch_sub(&lock->waiters, 1, __ATOMIC_RELAXED);
    if (result == -FLICK_ETIMEDOUT)
      return ETIMEDOUT;
  }
  return 0;
}

int pthread_rwlock_rdlock(pthread_rwlock_t *lock) {
  return lock_state(lock, false, FLICK_FOR_EVER);
}

int pthread_rwlock_wrlock(pthread_rwlock_t *lock) { return lock_state(lock, true, FLICK_FOR_EVER); }

int pthread_rwlock_timedrdlock(pthread_rwlock_t *restrict lock,
                               const struct timespec *restrict time) {
  return lock_state(lock, false, __card_ticks(time));
}

int pthread_rwlock_timedwrlock(pthread_rwlock_t *restrict lock,
                               const struct timespec *restrict time) {
  return lock_state(lock, true, __card_ticks(time));
}

int pthread_rwlock_tryrdlock(pthread_rwlock_t *lock) {
  uint32_t found;
  return try_state(lock, false, &found) ? 0 : EBUSY;
}

int pthread_rwlock_trywrlock(pthread_rwlock_t *lock) {
  uint32_t found;
  return try_state(lock, true, &found) ? 0 : EBUSY;
}

int pthread_rwlock_unlock(pthread_rwlock_t *lock) {
  uint32_t before = card_load(&lock->state);
  if (before == 0)
    return EPERM;
  card_releasing();
  if (before == WRITER)
    __atomic_exchange_n(&lock->state, 0, __ATOMIC_SEQ_CST);
  else
    before = __atomic_fetch_sub(&lock->state, 1, __ATOMIC_SEQ_CST);
  bool is_free = before == WRITER || before == 1;
  if (is_free && card_load(&lock->waiters))
    card_wake(&lock->state, UINT64_MAX);
  return 0;
}
