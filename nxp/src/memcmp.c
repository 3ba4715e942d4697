#include "alias.h"

int memcmp(const void *left, const void *right, size_t n) {
  const unsigned char *a = left, *b = right;
  if (n >= 2 * WORD && misalignment(a) == misalignment(b)) {
    for (; misalignment(a) != 0; n--, a++, b++)
      if (*a != *b)
        return *a - *b;
    /* The first unequal word is looked at byte by byte below. */
    for (; n >= WORD && *(const word *)a == *(const word *)b; n -= WORD) {
      a += WORD;
      b += WORD;
    }
  }
  for (; n != 0; n--, a++, b++)
    if (*a != *b)
      return *a - *b;
  return 0;
}
NXP_ALIAS(memcmp);
