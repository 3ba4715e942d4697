/* Measures whether threads that cross slow one another: the null calls of two threads at a time,
 * beside those of one thread, for plain calls, host-NxP-host and NxP-host-NxP. `flick bench scale`
 * builds this program, runs it and makes the table.
 *
 *   scale MILLISECONDS ROUNDS
 *
 * prints a line of column names, then a line per round: calls per microsecond of one thread (the
 * mean of what each of two processors gives alone) and of two threads, for each kind of call. Every
 * figure takes MILLISECONDS; the kinds alternate within a round, so that other work on the machine
 * meets them all. */
#define _GNU_SOURCE
#include <flick.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define NULL_BODY __asm__ volatile("")
#define SEPARATE __attribute__((noinline))

/* Between two looks at the clock. */
enum { BLOCK = 2000 };

FLICK_HOST SEPARATE void null_on_host(void) { NULL_BODY; }
/* With a frame on the NxP's stack, because a leaf would need no crossing. */
FLICK_NXP SEPARATE void null_on_nxp(void) {
  volatile char here[16];
  here[0] = 0;
}

FLICK_HOST SEPARATE void plain(void) {
  for (long call = 0; call < BLOCK; call++)
    null_on_host();
}
FLICK_HOST SEPARATE void to_nxp(void) {
  for (long call = 0; call < BLOCK; call++)
    null_on_nxp();
}
FLICK_NXP SEPARATE void to_host(void) {
  for (long call = 0; call < BLOCK; call++)
    null_on_host();
}

static void (*const kinds[])(void) = {plain, to_nxp, to_host};
enum { KINDS = sizeof kinds / sizeof *kinds };

typedef struct {
  /* It is apart from the other thread's, so that only the calls can share memory. */
  _Alignas(128) pthread_t thread;
  int processor;
  double rate; /* calls per microsecond in the last measurement */
} worker;

static worker workers[2];
static pthread_barrier_t barrier;
static double duration; /* nanoseconds */
static void (*calls)(void);
static int chosen; /* bit N: worker N runs */
static atomic_int ready;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void *work(void *argument) {
  worker *self = argument;
  int bit = 1 << (self - workers);
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET((size_t)self->processor, &set);
  if (pthread_setaffinity_np(pthread_self(), sizeof set, &set) != 0) {
    fprintf(stderr, "scale: a thread cannot be kept on processor %d\n", self->processor);
    exit(1);
  }
  for (;;) {
    pthread_barrier_wait(&barrier);
    if (!calls)
      return NULL;
    if (chosen & bit) {
      calls(); /* makes the thread's NxP stack, and fills caches */
      /* A barrier wakes its threads some time apart. Both begin here. */
      atomic_fetch_or(&ready, bit);
      while (atomic_load(&ready) != chosen)
        ;
      long blocks = 0;
      double begin = now(), end = begin;
      for (; end - begin < duration; end = now(), blocks++)
        calls();
      self->rate = (double)blocks * BLOCK / (end - begin) * 1e3;
    }
    pthread_barrier_wait(&barrier);
  }
}

static void measure(int which) {
  chosen = which;
  atomic_store(&ready, 0);
  pthread_barrier_wait(&barrier);
  pthread_barrier_wait(&barrier);
}

int main(int argc, char **argv) {
  double milliseconds = argc > 1 ? atof(argv[1]) : 2;
  long rounds = argc > 2 ? atol(argv[2]) : 101;
  if (!(milliseconds > 0) || rounds < 1) {
    fprintf(stderr, "usage: scale MILLISECONDS ROUNDS\n");
    return 2;
  }
  duration = milliseconds * 1e6;

  cpu_set_t allowed;
  int found = 0;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) {
    perror("sched_getaffinity");
    return 1;
  }
  for (int processor = 0; processor < CPU_SETSIZE && found < 2; processor++)
    if (CPU_ISSET((size_t)processor, &allowed))
      workers[found++].processor = processor;
  if (found < 2) {
    fprintf(stderr, "scale: this process may use one processor only\n");
    return 1;
  }

  pthread_barrier_init(&barrier, NULL, 3);
  for (int i = 0; i < 2; i++)
    if (pthread_create(&workers[i].thread, NULL, work, &workers[i]) != 0) {
      fprintf(stderr, "scale: a thread cannot be made\n");
      return 1;
    }
  puts("plain_1,plain_2,host_nxp_host_1,host_nxp_host_2,nxp_host_nxp_1,nxp_host_nxp_2");
  for (long round = 0; round < rounds; round++)
    for (int kind = 0; kind < KINDS; kind++) {
      calls = kinds[kind];
      measure(1);
      measure(2);
      double one = (workers[0].rate + workers[1].rate) / 2;
      measure(3);
      double two = workers[0].rate + workers[1].rate;
      printf("%.3f,%.3f%c", one, two, kind + 1 < KINDS ? ',' : '\n');
    }
  calls = NULL;
  pthread_barrier_wait(&barrier);
  for (int i = 0; i < 2; i++)
    pthread_join(workers[i].thread, NULL);
  return 0;
}
