// Vectors inside a function are taken apart; wide integers too.
// RUN: for o in 0 2; do %flick -O$o -c %s -o %t.o && %links %t.o || exit 1; done
// RUN: %places %t.o | grep -c mark | grep -x 3
#include <flick.h>

typedef float v8 __attribute__((vector_size(32)));
FLICK_NXP float dot(const float *a, const float *b) {
  v8 x, y;
  __builtin_memcpy(&x, a, sizeof x);
  __builtin_memcpy(&y, b, sizeof y);
  x *= y;
  float s = 0;
  for (int i = 0; i < 8; i++)
    s += x[i];
  return s;
}
FLICK_NXP unsigned long high(unsigned long a, unsigned long b) { return (unsigned long)(((unsigned __int128)a * b) >> 64); }
FLICK_NXP long quotient(const __int128 *a, long b) { return (long)(*a / b); }
