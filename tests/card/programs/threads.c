// More threads than harts: mutexes, conditions, barriers, locks for readers and writers, keys, what
// is done once, detached threads; thread-local data and printf from many threads.
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 24, ROUNDS = 50 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t barrier;
static pthread_rwlock_t shared = PTHREAD_RWLOCK_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key;
// Several harts store to each, so that it has a line of its own.
static struct {
  _Alignas(64) long value;
} sum, turn, written, onces;
static struct {
  _Alignas(64) atomic_long value;
} freed, wrong, ended;
static _Thread_local long own = 5;

static void first(void) { onces.value++; }
static void end_of_key(void *value) { atomic_fetch_add(&freed.value, (long)value); }

static void *work(void *argument) {
  long me = (long)argument;
  pthread_once(&once, first);
  pthread_setspecific(key, (void *)(me + 1));
  own += me;
  for (int n = 0; n < ROUNDS; n++) {
    pthread_mutex_lock(&mutex);
    sum.value++;
    pthread_mutex_unlock(&mutex);
    void *block = malloc(100 + me);
    free(block);
  }
  if (pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD)
    atomic_fetch_add(&ended.value, 100);
  if (sum.value != THREADS * ROUNDS)
    atomic_fetch_add(&wrong.value, 1);
  for (int n = 0; n < 5; n++) {
    pthread_rwlock_rdlock(&shared);
    long before = written.value;
    pthread_rwlock_unlock(&shared);
    pthread_rwlock_wrlock(&shared);
    if (written.value < before)
      atomic_fetch_add(&wrong.value, 1);
    written.value++;
    pthread_rwlock_unlock(&shared);
    pthread_barrier_wait(&barrier);
  }
  // One after the other, in the order of their numbers.
  pthread_mutex_lock(&mutex);
  while (turn.value != me)
    pthread_cond_wait(&condition, &mutex);
  printf("thread %2ld: %ld\n", me, own);
  turn.value++;
  pthread_cond_broadcast(&condition);
  pthread_mutex_unlock(&mutex);
  return (void *)(me * me);
}

static void *recurse(void *argument) {
  pthread_mutex_t *recursive = argument;
  for (int n = 0; n < 3; n++)
    pthread_mutex_lock(recursive);
  int tried = pthread_mutex_trylock(recursive);
  for (int n = 0; n < 4; n++)
    pthread_mutex_unlock(recursive);
  pthread_exit((void *)(long)(tried * 10 + pthread_mutex_unlock(recursive)));
}

static void *alone(void *argument) {
  atomic_fetch_add(&ended.value, (long)argument);
  return NULL;
}

int main(void) {
  pthread_t threads[THREADS];
  pthread_barrier_init(&barrier, NULL, THREADS);
  pthread_key_create(&key, end_of_key);
  for (long n = 0; n < THREADS; n++)
    if (pthread_create(&threads[n], NULL, work, (void *)n))
      return 1;
  long squares = 0;
  for (int n = 0; n < THREADS; n++) {
    void *value;
    pthread_join(threads[n], &value);
    squares += (long)value;
  }
  printf("sum %ld, written %ld, squares %ld, once %ld, freed %ld, wrong %ld, own %ld\n", sum.value,
         written.value, squares, onces.value, freed.value, wrong.value, own);
  printf("serial threads %ld\n", ended.value);

  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
  pthread_mutex_t recursive;
  pthread_mutex_init(&recursive, &attributes);
  pthread_t thread;
  void *value;
  pthread_create(&thread, NULL, recurse, &recursive);
  pthread_join(thread, &value);
  printf("recursive: %d\n", (long)value == EPERM);

  // Stacks of detached threads are used again, so that memory and the kernel's places suffice.
  ended.value = 0;
  pthread_attr_t detached;
  pthread_attr_init(&detached);
  pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
  for (int n = 0; n < 400; n++)
    while (pthread_create(&thread, &detached, alone, (void *)1l))
      sched_yield();
  while (ended.value < 400)
    sched_yield();
  printf("detached %ld\n", ended.value);

  struct timespec soon;
  clock_gettime(CLOCK_REALTIME, &soon);
  soon.tv_nsec += 1000000;
  pthread_mutex_lock(&mutex);
  printf("timed wait: %d\n", pthread_cond_timedwait(&condition, &mutex, &soon) == ETIMEDOUT);
  printf("join of itself: %d\n", pthread_join(pthread_self(), NULL) == EDEADLK);
  return 0;
}
