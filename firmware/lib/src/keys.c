// Data of each thread by keys.
#include <errno.h>

#include "thread.h"

// POSIX's PTHREAD_DESTRUCTOR_ITERATIONS.
#define ROUNDS 4

static void nothing(void *value) { (void)value; }

// NULL: the key is free.
static _Alignas(CARD_LINE) void (*destructors[PTHREAD_KEYS_MAX])(void *);
_Static_assert(sizeof destructors % CARD_LINE == 0, "nothing else is in their lines");

int pthread_key_create(pthread_key_t *key, void (*destructor)(void *)) {
  if (!destructor)
    destructor = nothing;
  for (unsigned n = 0; n < PTHREAD_KEYS_MAX; n++) {
    void (*free)(void *) = NULL;
    if (__atomic_compare_exchange_n(&destructors[n], &free, destructor, false, __ATOMIC_ACQ_REL,
                                    __ATOMIC_RELAXED)) {
      *key = n;
      return 0;
    }
  }
  return EAGAIN;
}

int pthread_key_delete(pthread_key_t key) {
  if (key >= PTHREAD_KEYS_MAX)
    return EINVAL;
  return __atomic_exchange_n(&destructors[key], NULL, __ATOMIC_ACQ_REL) ? 0 : EINVAL;
}

void *pthread_getspecific(pthread_key_t key) {
  return key < PTHREAD_KEYS_MAX ? card_thread()->specific[key] : NULL;
}

int pthread_setspecific(pthread_key_t key, const void *value) {
  if (key >= PTHREAD_KEYS_MAX)
    return EINVAL;
  card_thread()->specific[key] = (void *)value;
  return 0;
}

void __card_end_keys(struct __card_thread *thread) {
  for (int round = 0; round < ROUNDS; round++) {
    bool is_over = true;
    for (unsigned n = 0; n < PTHREAD_KEYS_MAX; n++) {
      void *value = thread->specific[n];
      void (*destructor)(void *) = __atomic_load_n(&destructors[n], __ATOMIC_ACQUIRE);
      if (!value || !destructor)
        continue;
      thread->specific[n] = NULL;
      destructor(value);
      is_over = false;
    }
    if (is_over)
      break;
  }
}
