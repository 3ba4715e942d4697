/* Threads of POSIX over the kernel's (docs/card-programs.md says which functions there are). */
#pragma once
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PTHREAD_KEYS_MAX 32
#define PTHREAD_STACK_MIN 4096

typedef struct __card_thread *pthread_t;

typedef struct {
  size_t stack_size;
  int detach_state;
} pthread_attr_t;

enum { PTHREAD_CREATE_JOINABLE, PTHREAD_CREATE_DETACHED };

int pthread_attr_init(pthread_attr_t *);
int pthread_attr_destroy(pthread_attr_t *);
int pthread_attr_setstacksize(pthread_attr_t *, size_t);
int pthread_attr_getstacksize(const pthread_attr_t *, size_t *);
int pthread_attr_setdetachstate(pthread_attr_t *, int);
int pthread_attr_getdetachstate(const pthread_attr_t *, int *);

int pthread_create(pthread_t *__restrict, const pthread_attr_t *__restrict, void *(*)(void *),
                   void *__restrict);
int pthread_join(pthread_t, void **);
int pthread_detach(pthread_t);
__attribute__((noreturn)) void pthread_exit(void *);
pthread_t pthread_self(void);
int pthread_equal(pthread_t, pthread_t);

/* What threads wait for has lines of a cache of its own: a hart that stores to the same line would
   undo what others do to it, where caches write back and are not coherent. */
#define __CARD_LINES __attribute__((aligned(64)))

typedef struct {
  uint32_t word, kind;
  uint32_t depth;
  pthread_t owner;
} __CARD_LINES pthread_mutex_t;

typedef struct {
  uint32_t kind;
} pthread_mutexattr_t;

enum {
  PTHREAD_MUTEX_NORMAL,
  PTHREAD_MUTEX_RECURSIVE,
  PTHREAD_MUTEX_ERRORCHECK,
  PTHREAD_MUTEX_DEFAULT = PTHREAD_MUTEX_NORMAL
};

#define PTHREAD_MUTEX_INITIALIZER {0, PTHREAD_MUTEX_NORMAL, 0, 0}
#define PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP {0, PTHREAD_MUTEX_RECURSIVE, 0, 0}

int pthread_mutexattr_init(pthread_mutexattr_t *);
int pthread_mutexattr_destroy(pthread_mutexattr_t *);
int pthread_mutexattr_settype(pthread_mutexattr_t *, int);
int pthread_mutexattr_gettype(const pthread_mutexattr_t *, int *);
int pthread_mutex_init(pthread_mutex_t *__restrict, const pthread_mutexattr_t *__restrict);
int pthread_mutex_destroy(pthread_mutex_t *);
int pthread_mutex_lock(pthread_mutex_t *);
int pthread_mutex_trylock(pthread_mutex_t *);
int pthread_mutex_timedlock(pthread_mutex_t *__restrict, const struct timespec *__restrict);
int pthread_mutex_unlock(pthread_mutex_t *);

typedef struct {
  uint32_t sequence, waiters;
} __CARD_LINES pthread_cond_t;

typedef struct {
  clockid_t clock;
} pthread_condattr_t;

#define PTHREAD_COND_INITIALIZER {0, 0}

int pthread_condattr_init(pthread_condattr_t *);
int pthread_condattr_destroy(pthread_condattr_t *);
int pthread_condattr_setclock(pthread_condattr_t *, clockid_t);
int pthread_cond_init(pthread_cond_t *__restrict, const pthread_condattr_t *__restrict);
int pthread_cond_destroy(pthread_cond_t *);
int pthread_cond_wait(pthread_cond_t *__restrict, pthread_mutex_t *__restrict);
int pthread_cond_timedwait(pthread_cond_t *__restrict, pthread_mutex_t *__restrict,
                           const struct timespec *__restrict);
int pthread_cond_signal(pthread_cond_t *);
int pthread_cond_broadcast(pthread_cond_t *);

typedef struct {
  uint32_t word;
} __CARD_LINES pthread_once_t;

#define PTHREAD_ONCE_INIT {0}

int pthread_once(pthread_once_t *, void (*)(void));

typedef unsigned pthread_key_t;

int pthread_key_create(pthread_key_t *, void (*)(void *));
int pthread_key_delete(pthread_key_t);
void *pthread_getspecific(pthread_key_t);
int pthread_setspecific(pthread_key_t, const void *);

typedef struct {
  uint32_t count, arrived, generation;
} __CARD_LINES pthread_barrier_t;

typedef struct {
  int unused;
} pthread_barrierattr_t;

#define PTHREAD_BARRIER_SERIAL_THREAD (-1)

int pthread_barrier_init(pthread_barrier_t *__restrict, const pthread_barrierattr_t *__restrict,
                         unsigned);
int pthread_barrier_destroy(pthread_barrier_t *);
int pthread_barrier_wait(pthread_barrier_t *);

typedef struct {
  uint32_t state, waiters;
} __CARD_LINES pthread_rwlock_t;

typedef struct {
  int unused;
} pthread_rwlockattr_t;

#define PTHREAD_RWLOCK_INITIALIZER {0, 0}

int pthread_rwlock_init(pthread_rwlock_t *__restrict, const pthread_rwlockattr_t *__restrict);
int pthread_rwlock_destroy(pthread_rwlock_t *);
int pthread_rwlock_rdlock(pthread_rwlock_t *);
int pthread_rwlock_tryrdlock(pthread_rwlock_t *);
int pthread_rwlock_timedrdlock(pthread_rwlock_t *__restrict, const struct timespec *__restrict);
int pthread_rwlock_wrlock(pthread_rwlock_t *);
int pthread_rwlock_trywrlock(pthread_rwlock_t *);
int pthread_rwlock_timedwrlock(pthread_rwlock_t *__restrict, const struct timespec *__restrict);
int pthread_rwlock_unlock(pthread_rwlock_t *);

#ifdef __cplusplus
}
#endif
