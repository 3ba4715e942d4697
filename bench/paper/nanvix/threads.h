/* Threads, cycles and words that harts share, for the programs that repeat the measurements of the
 * Nanvix paper on a cluster of `mppa256`. Its data caches are not coherent: what harts tell each
 * other goes by atomics, which act on memory. */
#ifndef NANVIX_THREADS_H
#define NANVIX_THREADS_H

#include <flick/card.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* As the paper has it: a cluster's 16 cores are the kernel's, the main thread's, and these. */
enum { MOST_THREADS = 14, WARM_UPS = 10, REPETITIONS = 30, LINE = 64, STACK = 4096 };

/* Cycles of the hart, those in which it waits included. */
static inline uint64_t cycles(void) {
  uint64_t value;
  __asm__ volatile("rdcycle %0" : "=r"(value)::"memory");
  return value;
}

/* What a measurement of nothing takes, which is taken off all others. */
static inline uint64_t empty_cycles(void) {
  uint64_t least = UINT64_MAX;
  for (int n = 0; n < 4; n++) {
    uint64_t begin = cycles(), taken = cycles() - begin;
    if (taken < least)
      least = taken;
  }
  return least;
}

/* A word with a line of its own. */
struct shared {
  _Alignas(LINE) uint64_t word;
};

static inline uint64_t shared_add(struct shared *shared, uint64_t value) {
  return __atomic_add_fetch(&shared->word, value, __ATOMIC_RELAXED);
}

/* What memory has, whatever is in the hart's cache. */
static inline uint64_t in_memory(uint64_t *word) {
  return __atomic_add_fetch(word, 0, __ATOMIC_RELAXED);
}

static inline uint64_t shared_get(struct shared *shared) { return in_memory(&shared->word); }

static inline void shared_set(struct shared *shared, uint64_t value) {
  __atomic_exchange_n(&shared->word, value, __ATOMIC_RELAXED);
}

/* Threads wait here until COUNT have come. They look rarely, to leave the memory to others. */
static inline void meet(struct shared *place, uint64_t count) {
  shared_add(place, 1);
  while (shared_get(place) < count)
    for (int n = 0; n < 50; n++)
      __asm__ volatile("nop");
}

static char stacks[MOST_THREADS][STACK] __attribute__((aligned(STACK)));

/* Ends the program if a call has failed. */
static inline int64_t good(int64_t result) {
  if (result >= 0)
    return result;
  printf("a kernel call fails: %d\n", flick_errno(result));
  exit(1);
}

/* The main thread stays on a hart, since another one's cache may have old lines of its data. */
static inline void stay(void) {
  good(flick_thread_place(flick_thread_self(), UINT64_C(1) << flick_hart_self()));
}

static inline uint64_t start_thread(void (*entry)(uint64_t), uint64_t argument, void *stack_end) {
  return good(flick_thread_create((uint64_t)entry, argument, (uint64_t)stack_end, 0,
                                  FLICK_NORMAL_PRIORITY));
}

static inline void join_thread(uint64_t thread) {
  good(flick_thread_join(thread, FLICK_FOR_EVER, NULL));
}

/* Starts COUNT threads on `stacks`, with their numbers from 0 on, and waits for their ends. */
static inline void run_threads(void (*entry)(uint64_t), int count) {
  uint64_t threads[MOST_THREADS];
  for (int n = 0; n < count; n++)
    threads[n] = start_thread(entry, n, stacks[n] + STACK);
  for (int n = 0; n < count; n++)
    join_thread(threads[n]);
}

/* Cycles of each thread and each repetition. */
struct samples {
  _Alignas(LINE) uint64_t cycles[REPETITIONS];
};
static struct samples samples[MOST_THREADS];

/* Stores a repetition that is no warm-up. */
static inline void keep(int thread, int repetition, uint64_t taken) {
  if (repetition >= WARM_UPS)
    samples[thread].cycles[repetition - WARM_UPS] = taken;
}

/* A line for each repetition: of COUNT threads, the least, the mean and the most cycles. */
static inline void print_samples(const char *name, int count) {
  for (int n = 0; n < REPETITIONS; n++) {
    uint64_t least = UINT64_MAX, sum = 0, most = 0;
    for (int thread = 0; thread < count; thread++) {
      uint64_t taken = in_memory(&samples[thread].cycles[n]);
      least = taken < least ? taken : least;
      most = taken > most ? taken : most;
      sum += taken;
    }
    printf("%s,%d,%d,%llu,%llu,%llu\n", name, count, n, (unsigned long long)least,
           (unsigned long long)(sum / count), (unsigned long long)most);
  }
}

/* The steps of a run: each number of threads, or a few, as an argument says. */
static inline int step_argument(int argc, char **argv) { return argc > 1 ? atoi(argv[1]) : 1; }

/* The next number of threads; the last one is always among them. */
static inline int next_count(int count, int step) {
  if (count == MOST_THREADS)
    return MOST_THREADS + 1;
  return count + step > MOST_THREADS ? MOST_THREADS : count + step;
}

#endif
