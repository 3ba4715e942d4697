/* What programs for the card compute: bench/card_threads.c measures it, and
 * tests/counts/card_budgets.c counts it. */
#ifndef CARD_WORKLOADS_H
#define CARD_WORKLOADS_H
#include <flick.h>
#include <stdint.h>

static inline uint64_t next_random(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return *state ^ *state >> 29;
}

/* Calls. */
FLICK_NXP __attribute__((noinline)) static uint64_t fibonacci(uint64_t n) {
  return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

/* Loads, stores and branches that are hard to foresee. */
static inline void sort_random(uint64_t *words, int count, uint64_t *state) {
  for (int n = 0; n < count; n++)
    words[n] = next_random(state);
  for (int gap = count / 2; gap > 0; gap /= 2)
    for (int n = gap; n < count; n++) {
      uint64_t word = words[n];
      int at = n;
      for (; at >= gap && words[at - gap] > word; at -= gap)
        words[at] = words[at - gap];
      words[at] = word;
    }
}

#endif
