// Sizes in whole pages.
#pragma once
#include <flick/card.h>

static inline uint64_t whole_pages(uint64_t size) {
  return (size + FLICK_PAGE - 1) & -(uint64_t)FLICK_PAGE;
}
