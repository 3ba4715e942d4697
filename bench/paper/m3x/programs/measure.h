/* What a measured program has counted of its calls for files. Times are ticks of the machine's
 * clock. */
#ifndef MEASURE_H
#define MEASURE_H
#include <stdint.h>

struct measured {
  uint64_t calls, call_time;
  /* Of calls that move data: reads and writes of Linux, copies from and to a tile of the card. */
  uint64_t moves, bytes_moved, move_time;
};

extern struct measured measured;

/* The folder of the program's files. */
extern const char *measured_folder;

/* Programs may have functions for these moments: before the time counts, when it begins to, and
 * behind that. */
__attribute__((weak)) void measure_prepares(int argc, char **argv);
__attribute__((weak)) void measure_begins(void);
__attribute__((weak)) void measure_ends(void);

static inline uint64_t measure_time(void) {
  uint64_t value;
  __asm__ volatile("rdtime %0" : "=r"(value)::"memory");
  return value;
}

static inline void measure_call(uint64_t begun, uint64_t bytes_moved, int moves) {
  uint64_t took = measure_time() - begun;
  if (moves) {
    measured.moves++;
    measured.bytes_moved += bytes_moved;
    measured.move_time += took;
  } else {
    measured.calls++;
    measured.call_time += took;
  }
}

#endif
