// Calls of the card's kernel, with the times of those to the root: they are for files alone in
// these programs.
// The header's own function, by another name: programs have it inline, and these call the one
// below.
#define flick_call kernel_call
#include <flick/card.h>
#undef flick_call

#include "measure.h"

struct measured measured;

// docs/kernel-calls.md
enum { FIRST_OF_ROOT = 80, TILE_LOAD = 85, TILE_STORE = 86 };

int64_t flick_call(uint64_t number, uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e,
                   uint64_t f, uint64_t *second) {
  if (number < FIRST_OF_ROOT)
    return kernel_call(number, a, b, c, d, e, f, second);
  uint64_t begun = measure_time();
  int64_t result = kernel_call(number, a, b, c, d, e, f, second);
  int moves = number == TILE_LOAD || number == TILE_STORE;
  measure_call(begun, moves ? d : 0, moves);
  return result;
}
