// Lines of a cache that is not coherent.
#include "cache.h"

// More lines are dearer than all at once, and the misses that follow.
#define MOST_LINES 16

void __card_refresh(const void *start, size_t size) {
  if (size == 0)
    return;
  uintptr_t line = (uintptr_t)start & -CARD_LINE, end = (uintptr_t)start + size;
  if (end - line > MOST_LINES * CARD_LINE && flick_cache_refresh() == 0)
    return;
  // An atomic operation acts on memory, and drops the line.
  for (; line < end; line += CARD_LINE)
    __atomic_fetch_or((uint32_t *)line, 0, __ATOMIC_RELAXED);
}
