// Threads in virtual time, against formulas: `ordered FORM THREADS [any]`. Work is accesses of the
// host to NxP memory, which take 300 ns each; nothing else takes any time.
#include <errno.h>
#include <flick.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 50, TURNS = 3, MOST = 64, PLACES = 4 };

static const double access_time = 300;
static volatile long *data;
static long threads;

static void work(long accesses) {
  for (long i = 0; i < accesses; i++)
    data[0];
}

static double now(void) {
  struct flick_prediction prediction;
  flick_predict(&prediction);
  if (prediction.migrating_ps != prediction.staying_ps) {
    puts("the worlds differ");
    exit(1);
  }
  return prediction.migrating_ps / 1e3;
}

static double at_once(void *(*run)(void *)) {
  pthread_t all[MOST];
  double begin = now();
  for (long i = 0; i < threads; i++)
    if (pthread_create(&all[i], NULL, run, (void *)i))
      exit(2);
  for (long i = 0; i < threads; i++)
    pthread_join(all[i], NULL);
  return now() - begin;
}

// Who leaves the lock comes back before all others have had it: it is never free.
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static long inside;

static void *locks(void *number) {
  for (int i = 0; i < ROUNDS; i++) {
    work(2);
    pthread_mutex_lock(&mutex);
    if (inside++)
      exit(3);
    work(3);
    inside--;
    pthread_mutex_unlock(&mutex);
  }
  return number;
}

static double lock(void) { return (2 + threads * ROUNDS * 3) * access_time; }

static pthread_spinlock_t spin;

static void *spins(void *number) {
  for (int i = 0; i < ROUNDS; i++) {
    work(2);
    pthread_spin_lock(&spin);
    work(3);
    pthread_spin_unlock(&spin);
  }
  return number;
}

// The slowest decides: the last one.
static pthread_barrier_t barrier;

static void *meets(void *number) {
  for (int i = 0; i < ROUNDS; i++) {
    work((long)number + 1);
    pthread_barrier_wait(&barrier);
  }
  return number;
}

static double meeting(void) { return ROUNDS * threads * access_time; }

// A queue with few places. Thread 0 makes items in 1 access, the others use them in 2 each. So with
// one of these it is they who decide, and else the first thread, but for the end.
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER, emptied = PTHREAD_COND_INITIALIZER;
static long there, taken;

static void *queues(void *number) {
  if (!number) {
    for (int i = 0; i < ROUNDS; i++) {
      work(1);
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
    while (!there && taken < ROUNDS)
      pthread_cond_wait(&filled, &mutex);
    if (taken == ROUNDS) {
      pthread_cond_broadcast(&filled);
      pthread_mutex_unlock(&mutex);
      return number;
    }
    there--;
    taken++;
    pthread_cond_signal(&emptied);
    pthread_mutex_unlock(&mutex);
    work(2);
  }
}

static double queue(void) { return (threads == 2 ? 1 + 2 * ROUNDS : ROUNDS + 2) * access_time; }

// As many pass at a time as the semaphore has.
static sem_t semaphore;

static void *passes(void *number) {
  for (int i = 0; i < ROUNDS; i++) {
    sem_wait(&semaphore);
    work(3);
    sem_post(&semaphore);
  }
  return number;
}

static double pass(void) { return ROUNDS * (threads < 4 ? 1 : threads / 4) * 3 * access_time; }

// Each waits for the number of its turn by an atomic variable.
static atomic_long turn;

static void *turns(void *number) {
  for (long i = 0; i < TURNS; i++) {
    while (atomic_load_explicit(&turn, memory_order_acquire) != i * threads + (long)number)
      work(1);
    work(10);
    atomic_fetch_add_explicit(&turn, 1, memory_order_release);
  }
  return number;
}

static double turn_by_turn(void) { return TURNS * threads * 10 * access_time; }

// Pipes in a circle: a byte goes round.
static int pipes[MOST][2];

static void *passes_on(void *number) {
  char byte = 1;
  long own = (long)number;
  for (int i = 0; i < ROUNDS; i++) {
    if ((own || i) && read(pipes[own][0], &byte, 1) != 1)
      exit(4);
    work(5);
    if (write(pipes[(own + 1) % threads][1], &byte, 1) != 1)
      exit(4);
  }
  return number;
}

static double circle(void) { return ROUNDS * threads * 5 * access_time; }

// Sleeping is done at once, and a deadline comes when all sleep.
static void *sleeps(void *number) {
  struct timespec deadline;
  usleep(1000 * ((long)number + 1));
  clock_gettime(CLOCK_REALTIME, &deadline);
  deadline.tv_sec += 1;
  pthread_mutex_lock(&mutex);
  int result = 0;
  while (result == 0)
    result = pthread_cond_timedwait(&filled, &mutex, &deadline);
  pthread_mutex_unlock(&mutex);
  if (result != ETIMEDOUT || poll(NULL, 0, 2000) != 0)
    exit(5);
  return number;
}

static double sleep_all(void) { return 1e6 * threads + 1e9 + 2e9; }

static const struct form {
  const char *name;
  void *(*run)(void *);
  double (*time)(void);
} forms[] = {
    {"lock", locks, lock},       {"spin", spins, lock},        {"barrier", meets, meeting},
    {"queue", queues, queue},    {"semaphore", passes, pass},  {"atomic", turns, turn_by_turn},
    {"pipe", passes_on, circle}, {"sleep", sleeps, sleep_all},
};

int main(int argc, char **argv) {
  threads = argc > 2 ? atol(argv[2]) : 4;
  data = flick_alloc(FLICK_MEM_NXP, sizeof *data);
  pthread_barrier_init(&barrier, NULL, (unsigned)threads);
  pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
  sem_init(&semaphore, 0, 4);
  for (int i = 0; i < threads; i++)
    if (pipe(pipes[i]))
      return 2;
  for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
    if (argc < 2 || strcmp(argv[1], forms[i].name))
      continue;
    double took = at_once(forms[i].run), expected = forms[i].time();
    printf("%.0f ns, and by the formula %.0f\n", took, expected);
    // Another platform has other times.
    return argc < 4 && (took < 0.99 * expected || took > 1.01 * expected);
  }
  puts("no such form");
  return 2;
}
