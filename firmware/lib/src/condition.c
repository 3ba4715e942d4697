// Condition variables, barriers, and what is done once.
#include <errno.h>

#include "card_time.h"
#include "thread.h"

int pthread_condattr_init(pthread_condattr_t *attributes) {
  attributes->clock = CLOCK_REALTIME;
  return 0;
}

int pthread_condattr_destroy(pthread_condattr_t *attributes) {
  (void)attributes;
  return 0;
}

// All clocks are one.
int pthread_condattr_setclock(pthread_condattr_t *attributes, clockid_t clock) {
  attributes->clock = clock;
  return 0;
}

int pthread_cond_init(pthread_cond_t *restrict condition,
                      const pthread_condattr_t *restrict attributes) {
  (void)attributes;
  *condition = (pthread_cond_t){0};
  return 0;
}

int pthread_cond_destroy(pthread_cond_t *condition) {
  (void)condition;
  return 0;
}

static int wait_until(pthread_cond_t *condition, pthread_mutex_t *mutex, uint64_t until) {
  __atomic_fetch_add(&condition->waiters, 1, __ATOMIC_SEQ_CST);
  // A signal behind the unlock changes the number, and the wait does not begin.
  uint32_t sequence = __atomic_load_n(&condition->sequence, __ATOMIC_SEQ_CST);
  uint32_t depth = __atomic_exchange_n(&mutex->depth, 0, __ATOMIC_RELAXED);
  int error = pthread_mutex_unlock(mutex);
  if (error) {
    __atomic_exchange_n(&mutex->depth, depth, __ATOMIC_RELAXED);
    __atomic_fetch_sub(&condition->waiters, 1, __ATOMIC_RELAXED);
    return error;
  }
  int64_t result = card_wait(&condition->sequence, sequence, until);
  __atomic_fetch_sub(&condition->waiters, 1, __ATOMIC_RELAXED);
  pthread_mutex_lock(mutex);
  __atomic_exchange_n(&mutex->depth, depth, __ATOMIC_RELAXED);
  return result == -FLICK_ETIMEDOUT ? ETIMEDOUT : 0;
}

int pthread_cond_wait(pthread_cond_t *restrict condition, pthread_mutex_t *restrict mutex) {
  return wait_until(condition, mutex, FLICK_FOR_EVER);
}

int pthread_cond_timedwait(pthread_cond_t *restrict condition, pthread_mutex_t *restrict mutex,
                           const struct timespec *restrict time) {
  return wait_until(condition, mutex, __card_ticks(time));
}

static int wake(pthread_cond_t *condition, uint64_t most) {
  __atomic_fetch_add(&condition->sequence, 1, __ATOMIC_SEQ_CST);
  if (card_load(&condition->waiters))
    card_wake(&condition->sequence, most);
  return 0;
}

int pthread_cond_signal(pthread_cond_t *condition) { return wake(condition, 1); }
int pthread_cond_broadcast(pthread_cond_t *condition) { return wake(condition, UINT64_MAX); }

int pthread_barrier_init(pthread_barrier_t *restrict barrier,
                         const pthread_barrierattr_t *restrict attributes, unsigned count) {
  (void)attributes;
  if (count == 0)
    return EINVAL;
  *barrier = (pthread_barrier_t){.count = count};
  return 0;
}

int pthread_barrier_destroy(pthread_barrier_t *barrier) {
  return __atomic_load_n(&barrier->arrived, __ATOMIC_RELAXED) ? EBUSY : 0;
}

int pthread_barrier_wait(pthread_barrier_t *barrier) {
  uint32_t generation = card_load(&barrier->generation);
  card_releasing();
  if (__atomic_add_fetch(&barrier->arrived, 1, __ATOMIC_ACQ_REL) == barrier->count) {
    __atomic_exchange_n(&barrier->arrived, 0, __ATOMIC_RELAXED);
    __atomic_fetch_add(&barrier->generation, 1, __ATOMIC_RELEASE);
    card_wake(&barrier->generation, UINT64_MAX);
    card_acquired();
    return PTHREAD_BARRIER_SERIAL_THREAD;
  }
  do
    card_wait(&barrier->generation, generation, FLICK_FOR_EVER);
  while (card_load(&barrier->generation) == generation);
  card_acquired();
  return 0;
}

enum { BEGUN = 1, AWAITED, DONE };

int pthread_once(pthread_once_t *control, void (*function)(void)) {
  uint32_t found = 0, *once = &control->word;
  if (__atomic_compare_exchange_n(once, &found, BEGUN, false, __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE)) {
    function();
    card_releasing();
    if (__atomic_exchange_n(once, DONE, __ATOMIC_RELEASE) == AWAITED)
      card_wake(once, UINT64_MAX);
    return 0;
  }
  while (found != DONE) {
    uint32_t begun = BEGUN;
    __atomic_compare_exchange_n(once, &begun, AWAITED, false, __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE);
    if (begun != DONE)
      card_wait(once, AWAITED, FLICK_FOR_EVER);
    found = card_load(once);
  }
  card_acquired();
  return 0;
}
