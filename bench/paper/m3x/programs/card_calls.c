// Calls of the card's kernel, with the times of those to the root: they are for files alone in
// these programs.
#include <flick/card.h>

#include "measure.h"

struct measured measured;

// docs/kernel-calls.md
enum { FIRST_OF_ROOT = 80, TILE_LOAD = 85, TILE_STORE = 86 };

static int64_t kernel_call(uint64_t number, uint64_t a, uint64_t b, uint64_t c, uint64_t d,
                           uint64_t e, uint64_t f, uint64_t *second) {
  register uint64_t a0 __asm__("a0") = a;
  register uint64_t a1 __asm__("a1") = b;
  register uint64_t a2 __asm__("a2") = c;
  register uint64_t a3 __asm__("a3") = d;
  register uint64_t a4 __asm__("a4") = e;
  register uint64_t a5 __asm__("a5") = f;
  register uint64_t a7 __asm__("a7") = number;
  __asm__ volatile("ecall"
                   : "+r"(a0), "+r"(a1)
                   : "r"(a2), "r"(a3), "r"(a4), "r"(a5), "r"(a7)
                   : "memory");
  if (second)
    *second = a1;
  return (int64_t)a0;
}

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
