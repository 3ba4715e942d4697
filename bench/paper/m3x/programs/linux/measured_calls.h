/* A call of Linux for files, with its time. */
#ifndef MEASURED_CALLS_H
#define MEASURED_CALLS_H
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

#include "../measure.h"
#include "system_calls.h"

// The arguments of a call.
struct arguments {
  int64_t words[5];
};

// What Linux returns. `begun` is the time of the call.
static inline int64_t measured_call(uint64_t begun, int64_t number, const struct arguments *all) {
  const int64_t *word = all->words;
  int64_t result = linux_call(number, word[0], word[1], word[2], word[3], word[4], 0);
  bool moves_data = number == LINUX_READ || number == LINUX_WRITE || number == LINUX_PREAD64 ||
                    number == LINUX_PWRITE64;
  measure_call(begun, result > 0 ? result : 0, moves_data);
  return result;
}

static inline int64_t with_errno(int64_t result) {
  if (result >= 0)
    return result;
  errno = -result;
  return -1;
}
#endif
