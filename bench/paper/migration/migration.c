/* The measurements of "Fast thread migration in a heterogeneous ISA system" (Berkeley, 2021) on a
 * tile whose last harts alone have vectors.
 *
 *   migration GENERAL VECTOR REPETITIONS
 *
 * with so many general user harts and vector harts prints comma-separated values: cycles of each
 * repetition. A name ends with where vectors are: `pinned` threads have said where they run, as
 * with `sched_setaffinity`; others `migrate`; and `back` leaves the vector hart before each call,
 * as the paper does. */
#include <flick/card.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { SIZE = 43, CALLS_EVERY = 3, MOST_THREADS = 8, STACK = 4096, WARM_UPS = 4, TIMES = 20 };
enum { SHORT_WORK = 30, ALONE = 40 };

static double left[SIZE * SIZE], right[SIZE * SIZE];
static double products[MOST_THREADS + 1][SIZE * SIZE];
static char stacks[MOST_THREADS][STACK] __attribute__((aligned(STACK)));
static uint64_t general, vectors, repetitions;

static inline uint64_t cycles(void) {
  uint64_t value;
  __asm__ volatile("rdcycle %0" : "=r"(value)::"memory");
  return value;
}

static int64_t good(int64_t result) {
  if (result >= 0)
    return result;
  printf("a kernel call fails: %d\n", flick_errno(result));
  exit(1);
}

static void place(uint64_t harts) { good(flick_thread_place(flick_thread_self(), harts)); }
static void leave(void) { good(flick_hint(FLICK_HINT_GENERAL)); }

/* The first general hart: one thread at a time has it. */
static uint64_t first(void) { return general & -general; }

static inline void one_vector(void) {
  __asm__ volatile(".option push\n.option arch, +v\nvsetivli zero, 2, e64, m1, ta, ma\n"
                   "vadd.vv v1, v1, v1\n.option pop" ::
                       : "v1", "memory");
}

/* Rows of a product, of strips of LMUL 4; `calls` of the kernel among them. */
static inline void dgemm(double *product, void (*call)(void)) {
  for (int i = 0; i < SIZE; i++) {
    for (uint64_t j = 0, length; j < SIZE; j += length) {
      double *a = left + i * SIZE, *b = right + j;
      uint64_t k = SIZE;
      __asm__ volatile(".option push\n.option arch, +v\n"
                       "vsetvli %0, %4, e64, m4, ta, ma\n"
                       "vmv.v.i v8, 0\n"
                       "1: fld fa5, (%1)\n"
                       "vle64.v v4, (%2)\n"
                       "addi %1, %1, 8\n"
                       "addi %3, %3, -1\n"
                       "add %2, %2, %5\n"
                       "vfmacc.vf v8, fa5, v4\n"
                       "bnez %3, 1b\n"
                       "vse64.v v8, (%6)\n"
                       ".option pop"
                       : "=&r"(length), "+r"(a), "+r"(b), "+r"(k)
                       : "r"(SIZE - j), "r"(8ul * SIZE), "r"(product + i * SIZE + j)
                       : "memory", "fa5", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11");
    }
    if (call && i % CALLS_EVERY == CALLS_EVERY - 1)
      call();
  }
}

static void check(const double *product) {
  for (int i = 0; i < SIZE; i++)
    for (int j = 0; j < SIZE; j++) {
      double sum = 0;
      for (int k = 0; k < SIZE; k++)
        sum += left[i * SIZE + k] * right[k * SIZE + j];
      if (sum != product[i * SIZE + j]) {
        printf("a product is wrong\n");
        exit(1);
      }
    }
}

static void served(void) { flick_process_self(NULL); }
static void back(void) {
  leave();
  served();
}

static void print(const char *name, int threads, int n, uint64_t taken) {
  if (n >= 0)
    printf("%s,%d,%d,%llu\n", name, threads, n, (unsigned long long)taken);
}

/* `begin` and `end` are on the first general hart, so that cycles are of one hart. */
#define MEASURE(name, begin, body, end)                                                            \
  for (int n = -WARM_UPS; n < TIMES; n++) {                                                        \
    begin;                                                                                         \
    uint64_t start = cycles();                                                                     \
    body;                                                                                          \
    uint64_t taken = cycles() - start;                                                             \
    end;                                                                                           \
    print(name, 1, n, taken);                                                                      \
  }

static void calls(void) {
  place(first());
  MEASURE("nothing", , , );
  MEASURE("trap", , flick_thread_self(), );
  MEASURE("call: general hart", , flick_process_self(NULL), );
  MEASURE(
      "there and back: affinity", place(first()), {
        place(vectors);
        one_vector();
        place(first());
      }, );
  place(first() | vectors);
  MEASURE(
      "there and back: migration", leave(), {
        one_vector();
        leave();
      }, );
  MEASURE(
      "there and back: hints", leave(), {
        good(flick_hint(FLICK_HINT_VECTORS));
        leave();
      }, );
  MEASURE("call: vector hart", one_vector(), flick_process_self(NULL), );
  MEASURE(
      "call: back", one_vector(), {
        back();
        one_vector();
      }, );
}

static void product(const char *name, uint64_t times, int is_pinned, void (*call)(void)) {
  double *to = products[MOST_THREADS];
  for (int n = -1; n < 3; n++) {
    place(first() | vectors);
    leave();
    uint64_t start = cycles();
    if (is_pinned)
      place(vectors);
    for (uint64_t time = 0; time < times; time++)
      dgemm(to, call);
    if (is_pinned)
      place(first());
    else
      leave();
    print(name, 1, n, cycles() - start);
    if (times > 1 && n == 0)
      break;
  }
  check(to);
}

static void contender(uint64_t number) {
  for (int n = 0; n < SHORT_WORK; n++)
    dgemm(products[number], NULL);
  flick_thread_exit(0);
}

/* One thread for each general hart, and one vector hart. */
static void contention(uint64_t hart) {
  place(first());
  for (int count = 1; count <= MOST_THREADS && count <= __builtin_popcountll(general); count++)
    for (int n = -1; n < 2; n++) {
      uint64_t threads[MOST_THREADS], start = cycles();
      for (int thread = 0; thread < count; thread++) {
        threads[thread] =
            good(flick_thread_create((uint64_t)contender, thread, (uint64_t)stacks[thread] + STACK,
                                     0, FLICK_NORMAL_PRIORITY));
        good(flick_thread_place(threads[thread], general | hart));
      }
      for (int thread = 0; thread < count; thread++) {
        good(flick_thread_join(threads[thread], FLICK_FOR_EVER, NULL));
        check(products[thread]);
      }
      print("contention", count, n, cycles() - start);
    }
}

static uint64_t compute(void) {
  uint64_t start = cycles(), sum = 0;
  for (int n = 0; n < 200000; n++)
    __asm__ volatile("add %0, %0, %1" : "+r"(sum) : "r"(n));
  return cycles() - start;
}

static volatile uint64_t is_over;
static void away(uint64_t number) {
  while (!__atomic_load_n(&is_over, __ATOMIC_RELAXED))
    dgemm(products[number], NULL);
  flick_thread_exit(0);
}

/* A thread on the hart that another one has left for vectors. */
static void other(void) {
  place(first());
  for (int n = -1; n < 3; n++)
    print("other: alone", 1, n, compute());
  uint64_t thread = good(flick_thread_create((uint64_t)away, 0, (uint64_t)stacks[0] + STACK, 0,
                                             FLICK_NORMAL_PRIORITY));
  good(flick_thread_place(thread, first() | vectors));
  for (int n = -1; n < 3; n++) {
    flick_thread_sleep(0);
    print("other: beside", 1, n, compute());
  }
  __atomic_store_n(&is_over, 1, __ATOMIC_RELAXED);
  good(flick_thread_join(thread, FLICK_FOR_EVER, NULL));
}

int main(int argc, char **argv) {
  if (argc < 4)
    return 2;
  uint64_t harts = good(flick_thread_place(flick_thread_self(), UINT64_MAX));
  int all = 63 - __builtin_clzll(harts), last = atoi(argv[2]);
  vectors = ((UINT64_C(1) << last) - 1) << (all + 1 - last);
  general = harts & ~vectors;
  repetitions = atoi(argv[3]);
  for (int n = 0; n < SIZE * SIZE; n++)
    left[n] = n % 7, right[n] = n % 5;
  printf("measure,threads,repetition,cycles\n");
  if (atoi(argv[1]) > 1) {
    contention(vectors);
    return 0;
  }
  calls();
  product("dgemm: pinned", 1, 1, NULL);
  product("dgemm: migrates", 1, 0, NULL);
  product("dgemm with calls: pinned", 1, 1, served);
  product("dgemm with calls: migrates", 1, 0, served);
  product("dgemm with calls: back", 1, 0, back);
  product("dgemm many times: pinned", repetitions, 1, NULL);
  product("dgemm many times: migrates", repetitions, 0, NULL);
  other();
}
