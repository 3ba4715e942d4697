/* Sorting 64-bit keys: quicksort with a median of three, insertion for short parts. */
#include "kernel.h"

static uint64_t keys[1 << 14];

static inline void swap_keys(uint64_t *a, uint64_t *b) {
  uint64_t kept = *a;
  *a = *b;
  *b = kept;
}

static void insertion(uint64_t *from, uint64_t *to) {
  for (uint64_t *at = from + 1; at < to; at++) {
    uint64_t key = *at, *hole = at;
    for (; hole > from && hole[-1] > key; hole--)
      *hole = hole[-1];
    *hole = key;
  }
}

static void quicksort(uint64_t *from, uint64_t *to) {
  while (to - from > 16) {
    uint64_t *middle = from + (to - from) / 2, *last = to - 1;
    if (*middle < *from)
      swap_keys(middle, from);
    if (*last < *from)
      swap_keys(last, from);
    if (*last < *middle)
      swap_keys(last, middle);
    uint64_t pivot = *middle, *left = from, *right = last;
    while (left <= right) {
      while (*left < pivot)
        left++;
      while (pivot < *right)
        right--;
      if (left <= right)
        swap_keys(left++, right--);
    }
    if (right + 1 - from < to - left) {
      quicksort(from, right + 1);
      from = left;
    } else {
      quicksort(left, to);
      to = right + 1;
    }
  }
  insertion(from, to);
}

uint64_t sort(uint64_t work) {
  enum { COUNT = sizeof keys / sizeof *keys };
  uint64_t checksum = 0, random = 5;
  for (uint64_t i = 0; i < work; i++) {
    for (size_t k = 0; k < COUNT; k++)
      keys[k] = next_random(&random);
    quicksort(keys, keys + COUNT);
    for (size_t k = 0; k < COUNT; k += 97)
      checksum = fold(checksum, keys[k]);
  }
  return checksum;
}
