#include "copy.h"

void *memcpy(void *restrict to, const void *restrict from, size_t n) {
  copy_up(to, from, n);
  return to;
}
NXP_ALIAS(memcpy);
