/* Virtual time, for the programs that repeat the paper's measurements. One run accounts both
 * worlds: the one in which NxP functions run on the NxP, and the one in which the thread stays on
 * the host, the paper's baseline. */
#ifndef PAPER_MEASURE_H
#define PAPER_MEASURE_H

#include <errno.h>
#include <flick.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct flick_prediction prediction;

/* The time so far. Without a platform there is no virtual time, and the program ends. */
static inline prediction now(void) {
  prediction time;
  if (flick_predict(&time) == 0)
    return time;
  fprintf(stderr,
          "%s: no platform is named, so there is no virtual time to measure\n"
          "  hint: FLICK_PLATFORM=flick-isca20 %s; build with flick-cc --flick-timed\n",
          program_invocation_short_name, program_invocation_name);
  exit(1);
}

static inline prediction since(prediction begin) {
  prediction end = now();
  return (prediction){.migrating_ps = end.migrating_ps - begin.migrating_ps,
                      .staying_ps = end.staying_ps - begin.staying_ps};
}

/* Picoseconds of ALL as microseconds of one of COUNT. */
static inline double each_us(uint64_t all, uint64_t count) {
  return (double)all / 1e6 / (double)count;
}

static inline uint64_t number(const char *what, const char *text, uint64_t least, uint64_t most) {
  char *end;
  errno = 0;
  unsigned long long value = strtoull(text, &end, 10);
  if (!errno && end != text && !*end && *text != '-' && value >= least && value <= most)
    return value;
  fprintf(stderr, "%s: %s %s: not a number from %llu to %llu\n", program_invocation_short_name,
          what, text, (unsigned long long)least, (unsigned long long)most);
  exit(2);
}

#endif
