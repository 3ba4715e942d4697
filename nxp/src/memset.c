#include "alias.h"

void *memset(void *to, int byte, size_t n) {
  unsigned char *d = to;
  if (n >= 2 * WORD) {
    for (; misalignment(d) != 0; n--)
      *d++ = byte;
    word value = (unsigned char)byte * 0x0101010101010101u;
    word *w = (word *)d;
    size_t words = n / WORD;
    d += words * WORD;
    n %= WORD;
    for (; words >= 4; words -= 4, w += 4)
      w[0] = w[1] = w[2] = w[3] = value;
    for (; words != 0; words--)
      *w++ = value;
  }
  for (; n != 0; n--)
    *d++ = byte;
  return to;
}
NXP_ALIAS(memset);
