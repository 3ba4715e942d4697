/* Copies by words. Only words that hold at least one wanted byte are read. */
#ifndef NXP_COPY_H
#define NXP_COPY_H

#include "alias.h"

/* Ascending; also right for overlapping ranges with d before s. */
static inline void copy_up(unsigned char *d, const unsigned char *s, size_t n) {
  if (n >= 2 * WORD) {
    for (; misalignment(d) != 0; n--)
      *d++ = *s++;
    size_t off = misalignment(s);
    word *to = (word *)d;
    const word *from = (const word *)(s - off);
    size_t words = n / WORD;
    d += words * WORD;
    s += words * WORD;
    n %= WORD;
    if (off == 0) {
      for (; words >= 4; words -= 4, to += 4, from += 4) {
        word a = from[0], b = from[1], c = from[2], e = from[3];
        to[0] = a;
        to[1] = b;
        to[2] = c;
        to[3] = e;
      }
      for (; words != 0; words--)
        *to++ = *from++;
    } else {
      unsigned low = off * 8, high = 64 - low;
      for (word a = *from++, b; words != 0; words--, a = b) {
        b = *from++;
        *to++ = a >> low | b << high;
      }
    }
  }
  for (; n != 0; n--)
    *d++ = *s++;
}

/* Descending; right for overlapping ranges with d after s. */
static inline void copy_down(unsigned char *d, const unsigned char *s, size_t n) {
  d += n;
  s += n;
  if (n >= 2 * WORD) {
    for (; misalignment(d) != 0; n--)
      *--d = *--s;
    size_t off = misalignment(s);
    word *to = (word *)d;
    const word *from = (const word *)(s - off);
    size_t words = n / WORD;
    d -= words * WORD;
    s -= words * WORD;
    n %= WORD;
    if (off == 0) {
      for (; words != 0; words--)
        *--to = *--from;
    } else {
      unsigned low = off * 8, high = 64 - low;
      for (word b = *from, a; words != 0; words--, b = a) {
        a = *--from;
        *--to = a >> low | b << high;
      }
    }
  }
  for (; n != 0; n--)
    *--d = *--s;
}

#endif
