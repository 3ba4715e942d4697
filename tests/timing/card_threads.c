/* Threads on harts of a card, in virtual time: `card_threads FORM THREADS`. It prints what each
 * thread has seen, in picoseconds. tests/timing/card_threads.sh runs it, and knows the formulas. */
#include <flick.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 16, NODES = 4096, ROUNDS = 20, PLACES = 3 };

static uint64_t *nodes;
static long threads;
static uint64_t ended[MOST];

/* The empty statements keep the optimiser from removing calls. */
FLICK_NXP __attribute__((noinline)) static uint64_t works(const uint64_t *nodes, uint64_t steps) {
  uint64_t at = 0;
  while (steps-- > 0)
    at = nodes[at];
  return at;
}

static uint64_t now(void) {
  struct flick_prediction prediction;
  if (flick_predict(&prediction) != 0)
    exit(4);
  return prediction.migrating_ps;
}

/* One long call each. */
static void *one(void *number) {
  works(nodes, 100000);
  return number;
}

/* As many short ones. */
static void *calls(void *number) {
  for (int i = 0; i < ROUNDS; i++)
    works(nodes, 100);
  return number;
}

/* Short calls under a lock, and outside of it. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static long inside;

static void *locks(void *number) {
  for (int i = 0; i < ROUNDS; i++) {
    works(nodes, 50);
    pthread_mutex_lock(&mutex);
    if (inside++)
      exit(3);
    works(nodes, 50);
    inside--;
    pthread_mutex_unlock(&mutex);
  }
  return number;
}

/* A lock taken and left by NxP code: each is a call of the host. */
FLICK_NXP __attribute__((noinline)) static uint64_t locks_inside(const uint64_t *nodes) {
  uint64_t at = 0;
  for (int i = 0; i < ROUNDS; i++) {
    pthread_mutex_lock(&mutex);
    if (inside++)
      exit(3);
    for (int k = 0; k < 50; k++)
      at = nodes[at];
    inside--;
    pthread_mutex_unlock(&mutex);
  }
  return at;
}
static void *callbacks(void *number) {
  locks_inside(nodes);
  return number;
}

/* A queue: thread 0 fills it, the others empty it by calls. */
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER, emptied = PTHREAD_COND_INITIALIZER;
static long there, taken;

static void *queues(void *number) {
  const long items = ROUNDS * (threads - 1);
  if (!number) {
    for (long i = 0; i < items; i++) {
      works(nodes, 10);
      pthread_mutex_lock(&mutex);
      while (there == PLACES)
        pthread_cond_wait(&emptied, &mutex);
      there++;
      pthread_cond_signal(&filled);
      pthread_mutex_unlock(&mutex);
    }
    return number;
  }
  for (;;) {
    pthread_mutex_lock(&mutex);
    while (!there && taken < items)
      pthread_cond_wait(&filled, &mutex);
    if (taken == items) {
      pthread_cond_broadcast(&filled);
      pthread_mutex_unlock(&mutex);
      return number;
    }
    there--;
    taken++;
    pthread_cond_signal(&emptied);
    pthread_mutex_unlock(&mutex);
    works(nodes, 100);
  }
}

/* Each thread's turn is told by an atomic variable: odd ones look on the host, even ones in NxP
 * code. */
static atomic_long turn;

FLICK_NXP __attribute__((noinline)) static void turns_on_nxp(long own, long of, long rounds) {
  for (long i = 0; i < rounds; i++) {
    while (atomic_load_explicit(&turn, memory_order_acquire) != i * of + own)
      for (volatile int k = 0; k < 20; k++)
        ;
    atomic_fetch_add_explicit(&turn, 1, memory_order_release);
  }
}
static void *turns(void *number) {
  const long own = (long)number;
  if (own % 2 == 0) {
    turns_on_nxp(own, threads, 3);
    return number;
  }
  for (long i = 0; i < 3; i++) {
    while (atomic_load_explicit(&turn, memory_order_acquire) != i * threads + own)
      works(nodes, 5);
    atomic_fetch_add_explicit(&turn, 1, memory_order_release);
  }
  return number;
}

/* Adds from both sides to one variable, by atomic accesses. */
static atomic_long sum;
FLICK_NXP __attribute__((noinline)) static void adds_on_nxp(atomic_long *sum) {
  for (int i = 0; i < 50; i++)
    atomic_fetch_add_explicit(sum, 1, memory_order_relaxed);
}
static void *adds(void *number) {
  for (int i = 0; i < ROUNDS; i++) {
    adds_on_nxp(&sum);
    for (int k = 0; k < 50; k++)
      atomic_fetch_add(&sum, 1);
  }
  return number;
}

/* Calls from the NxP to the host to the NxP. */
FLICK_NXP __attribute__((noinline)) static uint64_t down(long depth);
FLICK_HOST __attribute__((noinline)) uint64_t back(long depth) {
  return depth ? down(depth - 1) + 1 : works(nodes, 20);
}
FLICK_NXP __attribute__((noinline)) static uint64_t down(long depth) { return back(depth) + 1; }
static void *nested(void *number) {
  for (int i = 0; i < 5; i++)
    down(5);
  return number;
}

static void *(*run)(void *);
static void *measured(void *number) {
  run(number);
  ended[(long)number] = now();
  return number;
}

static const struct {
  const char *name;
  void *(*run)(void *);
} forms[] = {{"one", one},      {"calls", calls}, {"locks", locks}, {"callbacks", callbacks},
             {"queue", queues}, {"turns", turns}, {"adds", adds},   {"nested", nested}};

int main(int count, char **arguments) {
  if (count < 3)
    return 2;
  for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
    if (!strcmp(arguments[1], forms[i].name))
      run = forms[i].run;
  threads = atol(arguments[2]);
  nodes = flick_alloc(FLICK_MEM_NXP, NODES * sizeof *nodes);
  if (!run || threads < 1 || threads > MOST || !nodes)
    return 2;
  for (uint64_t i = 0; i < NODES; i++)
    nodes[i] = (i * 1021 + 1) % NODES;
  works(nodes, NODES);
  pthread_t all[MOST];
  const uint64_t begin = now();
  for (long i = 0; i < threads; i++)
    if (pthread_create(&all[i], NULL, measured, (void *)i))
      return 2;
  for (long i = 0; i < threads; i++)
    pthread_join(all[i], NULL);
  printf("all %llu\n", (unsigned long long)(now() - begin));
  for (long i = 0; i < threads; i++)
    printf("thread %llu\n", (unsigned long long)(ended[i] - begin));
  if (run == adds && sum != threads * ROUNDS * 100)
    return 3;
  flick_free(nodes);
  return 0;
}
