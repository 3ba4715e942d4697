/* Calls of the card's root kernel by code of the host. */
#include "host_card.h"
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* A host program says how long calls wait, in microseconds, and sees no clock of the card. */
struct flick_program_start flick_program = {.frequency = 1000000};

static _Thread_local uint64_t slept;

uint64_t flick_time(void) { return slept; }
void begin_waiting(void) { slept = 0; }

/* The one call that the kernel does not get from here. Time of the card goes on with the next call.
 */
static int64_t sleep_until(uint64_t time) {
  slept = time;
  sched_yield();
  return 0;
}

int64_t flick_call(uint64_t number, uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e,
                   uint64_t f, uint64_t *second) {
  if (number == FLICK_CALL_THREAD_SLEEP)
    return sleep_until(a);
  uint64_t results[2] = {0};
  int error = __flick_root_call(number, (const uint64_t[]){a, b, c, d, e, f}, results);
  if (error)
    return -error;
  if (second)
    *second = results[1];
  return (int64_t)results[0];
}

static _Thread_local char last_why[160];

const char *flick_error(void) { return last_why; }

int why(int error, const char *format, ...) {
  va_list values;
  va_start(values, format);
  vsnprintf(last_why, sizeof last_why, format, values);
  va_end(values);
  errno = error;
  return -1;
}

int kernel_error(int64_t result) {
  int error = flick_errno(result);
  return error ? error : (int)-result;
}

int64_t find_tile(const char *path, const char *name) {
  uint64_t endpoints;
  int64_t tile = flick_tile_find((uintptr_t)name, strlen(name), 0, &endpoints);
  switch (-tile) {
  case ENODEV:
    return why(ENODEV, "%s: there is no card (FLICK_BACKEND=card)", path);
  case FLICK_ENOSYS:
    return why(ENOSYS,
               "%s: the card's machine has no root (FLICK_MACHINE=card-accelerators has one)",
               path);
  case FLICK_ENOENT:
    return why(ENOENT, "%s: the card has no accelerator %s", path, name);
  }
  if (tile < 0)
    return why(kernel_error(tile), "%s: accelerator %s: %s", path, name,
               strerror(kernel_error(tile)));
  return tile;
}
