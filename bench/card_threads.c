/* Measures code of NxP functions on threads: kernels that compute, on threads of their own, which
 * share nothing. `flick bench card` builds this program, and runs it inline and on the card.
 *
 *   card_threads THREADS ROUNDS [cpu]
 *
 * prints a line of column names, then a line per round: nanoseconds of wall time for each kernel,
 * separated by commas, or of the processor time of all threads. The work of a round is the same for
 * any number of threads. It comes in calls of some million instructions, but for the last column,
 * where a call has 20,000. */
#define _GNU_SOURCE
#include "card_workloads.h"
#include <flick.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_THREADS = 64, CALLS = 256, WORDS = 1024, SIDE = 24 };

/* What a thread works on. */
typedef struct {
  uint64_t words[WORDS];
  double a[SIDE][SIDE], b[SIDE][SIDE], c[SIDE][SIDE];
} data;

/* Arithmetic in registers. */
FLICK_NXP __attribute__((noinline)) uint64_t integer(data *of, uint64_t work) {
  uint64_t state = (uint64_t)(of->words[0] | 1), sum = 0;
  for (uint64_t n = 0; n < work; n++) {
    sum += next_random(&state) >> 7;
    sum ^= sum << 3;
  }
  return sum;
}

FLICK_NXP __attribute__((noinline)) uint64_t recursion(data *of, uint64_t work) {
  uint64_t sum = of->words[0];
  for (uint64_t n = 0; n < work; n++)
    sum += fibonacci(14 + (sum & 1));
  return sum;
}

FLICK_NXP __attribute__((noinline)) uint64_t sort(data *of, uint64_t work) {
  uint64_t state = work, sum = 0;
  while (work--) {
    sort_random(of->words, WORDS, &state);
    sum += of->words[WORDS / 3];
  }
  return sum;
}

/* Floating point. */
FLICK_NXP __attribute__((noinline)) uint64_t matrix(data *of, uint64_t work) {
  while (work--)
    for (int i = 0; i < SIDE; i++)
      for (int j = 0; j < SIDE; j++) {
        double sum = 0;
        for (int k = 0; k < SIDE; k++)
          sum += of->a[i][k] * of->b[k][j];
        of->c[i][j] = sum;
      }
  return (uint64_t)of->c[1][2];
}

/* Bytes, by a switch. */
FLICK_NXP __attribute__((noinline)) uint64_t bytes(data *of, uint64_t work) {
  uint64_t sum = 0;
  const unsigned char *code = (const unsigned char *)of->words;
  while (work--)
    for (size_t n = 0; n < sizeof of->words; n++)
      switch (code[n] & 7) {
      case 0:
        sum += n;
        break;
      case 1:
        sum ^= n << 1;
        break;
      case 2:
        sum -= code[n];
        break;
      case 3:
        sum = sum << 1 | sum >> 63;
        break;
      case 4:
        sum *= 3;
        break;
      case 5:
        sum += sum >> 5;
        break;
      case 6:
        sum = ~sum;
        break;
      default:
        sum ^= code[n];
        break;
      }
  return sum;
}

typedef struct {
  const char *name;
  uint64_t (*run)(data *, uint64_t);
  uint64_t work;
  unsigned calls;
} kernel;

/* Some million instructions a call. */
static const kernel kernels[] = {
    {"integer", integer, 125000, CALLS}, {"recursion", recursion, 120, CALLS},
    {"sort", sort, 10, CALLS},           {"matrix", matrix, 40, CALLS},
    {"bytes", bytes, 10, CALLS},         {"calls", integer, 2500, CALLS * 10},
};
enum { KERNELS = sizeof kernels / sizeof *kernels };

static data all[MOST_THREADS];
static unsigned threads;
static const kernel *current;
static pthread_barrier_t barrier;

static void *work(void *argument) {
  data *of = argument;
  for (;;) {
    pthread_barrier_wait(&barrier);
    if (!current)
      return NULL;
    for (unsigned n = 0; n < current->calls / threads; n++)
      of->words[0] += current->run(of, current->work) & 1;
    pthread_barrier_wait(&barrier);
  }
}

static clockid_t clock_of_rounds = CLOCK_MONOTONIC;

static double now(void) {
  struct timespec t;
  clock_gettime(clock_of_rounds, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

int main(int argc, char **argv) {
  unsigned rounds = argc > 2 ? (unsigned)atoi(argv[2]) : 1;
  pthread_t made[MOST_THREADS];
  threads = argc > 1 ? (unsigned)atoi(argv[1]) : 1;
  if (argc > 3 && !strcmp(argv[3], "cpu"))
    clock_of_rounds = CLOCK_PROCESS_CPUTIME_ID;
  if (threads < 1 || threads > MOST_THREADS || CALLS % threads)
    return 2;
  uint64_t state = 1;
  for (unsigned n = 0; n < threads; n++) {
    for (int at = 0; at < WORDS; at++)
      all[n].words[at] = next_random(&state);
    for (int i = 0; i < SIDE * SIDE; i++)
      (&all[n].a[0][0])[i] = (&all[n].b[0][0])[i] = (double)(i % 7);
  }
  pthread_barrier_init(&barrier, NULL, threads + 1);
  for (unsigned n = 0; n < threads; n++)
    if (pthread_create(&made[n], NULL, work, &all[n]))
      return 1;
  for (int k = 0; k < KERNELS; k++)
    printf("%s%s", k ? "," : "", kernels[k].name);
  /* The first round is not printed: it translates. */
  for (unsigned round = 0; round <= rounds; round++) {
    for (int k = 0; k < KERNELS; k++) {
      current = &kernels[k];
      double begin = now();
      pthread_barrier_wait(&barrier);
      pthread_barrier_wait(&barrier);
      if (round)
        printf("%s%.0f", k ? "," : "", now() - begin);
    }
    printf("\n");
    fflush(stdout);
  }
  current = NULL;
  pthread_barrier_wait(&barrier);
  for (unsigned n = 0; n < threads; n++)
    pthread_join(made[n], NULL);
  return 0;
}
