// Calls of Linux for files, with their times.
#include "../measure.h"
#include "system_calls.h"

struct measured measured;

static int moves_data(int64_t number) {
  return number == LINUX_READ || number == LINUX_WRITE || number == LINUX_PREAD64 ||
         number == LINUX_PWRITE64;
}

int64_t linux_file_call(int64_t number, int64_t a, int64_t b, int64_t c, int64_t d, int64_t e) {
  uint64_t begun = measure_time();
  int64_t result = linux_call(number, a, b, c, d, e, 0);
  measure_call(begun, result > 0 ? result : 0, moves_data(number));
  if (result >= 0)
    return result;
  errno = -result;
  return -1;
}
