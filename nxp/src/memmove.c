#include "copy.h"

void *memmove(void *to, const void *from, size_t n) {
  if ((uintptr_t)to - (uintptr_t)from >= n)
    copy_up(to, from, n);
  else
    copy_down(to, from, n);
  return to;
}
NXP_ALIAS(memmove);
