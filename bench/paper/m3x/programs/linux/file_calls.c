// Calls of Linux for files, with their times.
#include "measured_calls.h"

struct measured measured;

int64_t linux_file_call(int64_t number, int64_t a, int64_t b, int64_t c, int64_t d, int64_t e) {
  struct arguments all = {{a, b, c, d, e}};
  return with_errno(measured_call(measure_time(), number, &all));
}
