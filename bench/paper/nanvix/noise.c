/* KNoise of the Nanvix paper: n workers compute, beside 14-n idlers that make 100 remote calls an
 * event, which do nothing or change the table of threads, and alone. An event is 10,008 operations
 * of floating point, nine in a step. The paper's workers compute with constants in registers. Here
 * the four factors of a step come from memory, and all of an event exceed the data cache, so that a
 * worker needs the banks that it shares with the kernel. Beside threads that copy memory instead,
 * the workers show what they share.
 *
 *   noise [STEP [KIND...]]
 *
 * prints comma-separated values: cycles of an event, for each repetition the least, the mean and
 * the most of the workers. */
#include "threads.h"
#include <string.h>

enum { OPERATIONS = 10008, OPERATIONS_OF_STEP = 9, STEPS = OPERATIONS / OPERATIONS_OF_STEP };
enum { CALLS = 100, COPIED = 16384 };
enum beside { ALONE, CALLING, CHANGING, COPYING };
static const char *const names[] = {"alone", "calls", "changes", "copies"};

static struct shared ready, done;
static struct shared workers, all, beside;

/* The factors of each worker, and what each copier copies. */
struct factors {
  float of[4];
};
static struct factors factors[MOST_THREADS][STEPS];
static char copied[MOST_THREADS][2][COPIED] __attribute__((aligned(LINE)));

static volatile float sums[MOST_THREADS];

static void work(uint64_t thread) {
  uint64_t empty = empty_cycles();
  meet(&ready, shared_get(&all));
  for (int n = 0; n < WARM_UPS + REPETITIONS; n++) {
    float sum = 0, number = 0;
    uint64_t begin = cycles();
    for (const struct factors *step = factors[thread]; step < factors[thread] + STEPS; step++) {
      sum +=
          number * step->of[0] + number * step->of[1] + number * step->of[2] + number * step->of[3];
      number += OPERATIONS_OF_STEP;
    }
    keep(thread, n, cycles() - begin - empty);
    sums[thread] = sum;
  }
  shared_add(&done, 1);
  flick_thread_exit(0);
}

static void idle(int changes) {
  uint64_t count = shared_get(&workers), self = flick_thread_self();
  meet(&ready, shared_get(&all));
  while (shared_get(&done) < count)
    for (int n = 0; n < CALLS; n++)
      if (changes)
        flick_thread_wakeup(self);
      else
        flick_kernel_nothing();
  flick_thread_exit(0);
}

/* A line at a time, so that the hart waits for memory and little else. */
static void copy(uint64_t thread) {
  uint64_t count = shared_get(&workers);
  meet(&ready, shared_get(&all));
  while (shared_get(&done) < count)
    for (int n = 0; n < COPIED; n += LINE)
      memcpy(copied[thread][1] + n, copied[thread][0] + n, LINE);
  flick_thread_exit(0);
}

/* The others start first, as in the paper. */
static void start(uint64_t thread) {
  uint64_t others = shared_get(&all) - shared_get(&workers);
  if (thread >= others)
    work(thread - others);
  if (shared_get(&beside) == COPYING)
    copy(thread);
  idle(shared_get(&beside) == CHANGING);
}

/* Is it among the kinds that the arguments name, or do they name none? */
static int is_wanted(const char *name, char **kinds) {
  int wanted = !*kinds;
  for (; *kinds; kinds++)
    wanted |= !strcmp(*kinds, name);
  return wanted;
}

int main(int argc, char **argv) {
  stay();
  int step = step_argument(argc, argv);
  for (int thread = 0; thread < MOST_THREADS; thread++)
    for (int n = 0; n < STEPS; n++)
      factors[thread][n] = (struct factors){{1.1f, 2.1f, 3.1f, 4.1f}};
  printf("beside,workers,repetition,least,mean,most\n");
  for (enum beside other = ALONE; other <= COPYING; other++) {
    if (!is_wanted(names[other], argv + (argc > 1 ? 2 : 1)))
      continue;
    for (int count = 1; count <= MOST_THREADS; count = next_count(count, step)) {
      int threads = other == ALONE ? count : MOST_THREADS;
      shared_set(&beside, other);
      shared_set(&workers, count);
      shared_set(&all, threads);
      shared_set(&ready, 0);
      shared_set(&done, 0);
      run_threads(start, threads);
      print_samples(names[other], count);
    }
  }
}
