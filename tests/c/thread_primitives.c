// Locks of every kind between host and NxP code: what one side holds the other finds held, with the
// error each kind gives; condition variables, read-write and spin locks, C11 threads, a raw futex.
// OUT: mutex 1 1 1 1 1 1
// OUT: turns 40
// OUT: rwlock 1 1 1
// OUT: spin 4000
// OUT: c11 20 3
// OUT: futex 10
// LIBS: -pthread
#define _GNU_SOURCE
#include <errno.h>
#include <flick.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t plain = PTHREAD_MUTEX_INITIALIZER, checked, recursive, robust;

FLICK_NXP static int lock(pthread_mutex_t *m) { return pthread_mutex_lock(m); }
FLICK_NXP static int try_lock(pthread_mutex_t *m) { return pthread_mutex_trylock(m); }
FLICK_NXP static int unlock(pthread_mutex_t *m) { return pthread_mutex_unlock(m); }
FLICK_NXP static void *dies_with(void *m) { return pthread_mutex_lock(m) ? m : NULL; }
FLICK_NXP static int soon(pthread_mutex_t *m) {
  struct timespec t;
  clock_gettime(CLOCK_REALTIME, &t);
  return pthread_mutex_timedlock(m, &t);
}
static void make(pthread_mutex_t *m, int type, int robustness) {
  pthread_mutexattr_t a;
  pthread_mutexattr_init(&a);
  pthread_mutexattr_settype(&a, type);
  pthread_mutexattr_setrobust(&a, robustness);
  pthread_mutex_init(m, &a);
}
static void *other(void *arg) {
  int *good = arg;
  good[4] = pthread_mutex_unlock(&checked) == EPERM && soon(&plain) == ETIMEDOUT;
  return NULL;
}
static void mutexes(void) {
  make(&checked, PTHREAD_MUTEX_ERRORCHECK, PTHREAD_MUTEX_STALLED);
  make(&recursive, PTHREAD_MUTEX_RECURSIVE, PTHREAD_MUTEX_STALLED);
  make(&robust, PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_ROBUST);
  int good[6];
  good[0] = lock(&plain) == 0 && pthread_mutex_trylock(&plain) == EBUSY;
  good[1] = pthread_mutex_lock(&checked) == 0 && lock(&checked) == EDEADLK;
  good[2] =
      lock(&recursive) == 0 && pthread_mutex_lock(&recursive) == 0 && try_lock(&recursive) == 0;
  good[3] = unlock(&recursive) + pthread_mutex_unlock(&recursive) + unlock(&recursive) == 0;
  pthread_t t;
  pthread_create(&t, NULL, other, good);
  pthread_join(t, NULL);
  unlock(&plain);
  pthread_create(&t, NULL, dies_with, &robust);
  pthread_join(t, NULL);
  good[5] =
      lock(&robust) == EOWNERDEAD && pthread_mutex_consistent(&robust) == 0 && unlock(&robust) == 0;
  printf("mutex %d %d %d %d %d %d\n", good[0], good[1], good[2], good[3], good[4], good[5]);
}

static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int turn;
static inline __attribute__((always_inline)) void take_turns(int mine) {
  for (int i = 0; i < 20; i++) {
    pthread_mutex_lock(&plain);
    while (turn % 2 != mine)
      pthread_cond_wait(&changed, &plain);
    turn++;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&plain);
  }
}
FLICK_NXP static void *nxp_turns(void *arg) {
  take_turns(1);
  return arg;
}

static pthread_rwlock_t shared = PTHREAD_RWLOCK_INITIALIZER;
FLICK_NXP static int nxp_reads(void) { return pthread_rwlock_tryrdlock(&shared); }
FLICK_NXP static int nxp_writes(void) { return pthread_rwlock_trywrlock(&shared); }

static pthread_spinlock_t spin;
static long spun;
static inline __attribute__((always_inline)) void spin_rounds(void) {
  for (int i = 0; i < 1000; i++) {
    pthread_spin_lock(&spin);
    spun++;
    pthread_spin_unlock(&spin);
  }
}
FLICK_NXP static void *nxp_spins(void *arg) {
  spin_rounds();
  return arg;
}
FLICK_HOST static void *host_spins(void *arg) {
  spin_rounds();
  return arg;
}

static mtx_t c11;
static cnd_t c11_changed;
static int c11_count;
FLICK_NXP static int c11_thread(void *arg) {
  for (int i = 0; i < 10; i++) {
    mtx_lock(&c11);
    c11_count++;
    cnd_signal(&c11_changed);
    mtx_unlock(&c11);
  }
  return *(int *)arg;
}

static atomic_int word;
FLICK_NXP static void *waker(void *arg) {
  for (int i = 1; i <= 10; i++) {
    atomic_store(&word, i);
    syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
  }
  return arg;
}

int main(void) {
  pthread_t t[4];
  mutexes();
  pthread_create(&t[0], NULL, nxp_turns, NULL);
  take_turns(0);
  pthread_join(t[0], NULL);
  printf("turns %d\n", turn);

  int r0 = nxp_reads(), r1 = pthread_rwlock_tryrdlock(&shared), w = nxp_writes();
  pthread_rwlock_unlock(&shared);
  pthread_rwlock_unlock(&shared);
  printf("rwlock %d %d %d\n", r0 == 0 && r1 == 0, w == EBUSY,
         nxp_writes() == 0 && nxp_reads() != 0);

  pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
  for (int i = 0; i < 4; i++)
    pthread_create(&t[i], NULL, i % 2 ? nxp_spins : host_spins, NULL);
  for (int i = 0; i < 4; i++)
    pthread_join(t[i], NULL);
  printf("spin %ld\n", spun);

  thrd_t c[2];
  int codes[2] = {1, 2}, sum = 0, code;
  mtx_init(&c11, mtx_plain);
  cnd_init(&c11_changed);
  for (int i = 0; i < 2; i++)
    thrd_create(&c[i], c11_thread, &codes[i]);
  mtx_lock(&c11);
  while (c11_count < 20)
    cnd_wait(&c11_changed, &c11);
  mtx_unlock(&c11);
  for (int i = 0; i < 2; i++) {
    thrd_join(c[i], &code);
    sum += code;
  }
  printf("c11 %d %d\n", c11_count, sum);

  pthread_create(&t[0], NULL, waker, NULL);
  for (int now = 0; now < 10; now = atomic_load(&word))
    syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, now, NULL, NULL, 0);
  pthread_join(t[0], NULL);
  printf("futex %d\n", atomic_load(&word));
}
