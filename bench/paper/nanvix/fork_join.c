/* Fork-join of the Nanvix paper: the main thread makes 1 to 14 threads that do nothing, and joins
 * them. With recycling they get the stacks of the repetition before. Without, each gets a stack
 * that was never used, whose page the kernel finds when the thread stores to it.
 *
 *   fork_join [STEP]
 *
 * prints comma-separated values: cycles of all creates, and of all joins. */
#include "threads.h"

/* The thread stores a word to its stack, as a compiled function does, and ends. */
__attribute__((naked)) static void nothing(uint64_t argument __attribute__((unused))) {
  __asm__ volatile("sd a0, -8(sp)\n\tli a0, 0\n\tli a7, %0\n\tecall" ::"i"(17));
}

static void fork_join(int count, int recycled) {
  uint64_t threads[MOST_THREADS], empty = empty_cycles();
  for (int n = 0; n < WARM_UPS + REPETITIONS; n++) {
    char *place = stacks[0];
    if (!recycled)
      place = (char *)good(flick_memory_map(0, STACK * count, FLICK_READ | FLICK_WRITE));
    uint64_t begin = cycles();
    for (int k = 0; k < count; k++)
      threads[k] = start_thread(nothing, k, place + STACK * (k + 1));
    uint64_t forked = cycles();
    for (int k = 0; k < count; k++)
      join_thread(threads[k]);
    uint64_t joined = cycles();
    if (!recycled)
      good(flick_memory_unmap((uint64_t)place, STACK * count));
    if (n >= WARM_UPS)
      printf("%s,%d,%d,%llu,%llu\n", recycled ? "on" : "off", count, n - WARM_UPS,
             (unsigned long long)(forked - begin - empty),
             (unsigned long long)(joined - forked - empty));
  }
}

int main(int argc, char **argv) {
  stay();
  int step = step_argument(argc, argv);
  printf("recycling,threads,repetition,fork,join\n");
  for (int recycled = 1; recycled >= 0; recycled--)
    for (int count = 1; count <= MOST_THREADS; count = next_count(count, step))
      fork_join(count, recycled);
}
