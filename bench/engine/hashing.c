/* A hash table of byte strings: FNV-1a, open addressing, look-ups that hit and that miss. */
#include "kernel.h"

enum { KEYS = 1 << 12, SLOTS = 2 * KEYS, LENGTH = 12 };

static unsigned char keys[2 * KEYS][LENGTH]; /* the second half is never put in */
static uint32_t slots[SLOTS];                /* a key's index, counted from 1 */

static void prepare(void) {
  uint64_t random = 8;
  if (keys[0][0])
    return;
  for (size_t i = 0; i < 2 * KEYS; i++)
    for (size_t j = 0; j < LENGTH; j++)
      keys[i][j] = (unsigned char)('a' + (next_random(&random) >> 40) % 26);
}

static uint32_t hash(const unsigned char *key) {
  uint32_t value = 2166136261u;
  for (size_t i = 0; i < LENGTH; i++)
    value = (value ^ key[i]) * 16777619u;
  return value ^ value >> 15;
}

static int equal(const unsigned char *a, const unsigned char *b) {
  for (size_t i = 0; i < LENGTH; i++)
    if (a[i] != b[i])
      return 0;
  return 1;
}

/* The slot that has the key, or where it would be. */
static size_t slot_of(const unsigned char *key) {
  size_t slot = hash(key) % SLOTS;
  while (slots[slot] && !equal(keys[slots[slot] - 1], key))
    slot = (slot + 1) % SLOTS;
  return slot;
}

uint64_t hashing(uint64_t work) {
  uint64_t checksum = 0;
  prepare();
  for (uint64_t i = 0; i < work; i++) {
    for (size_t s = 0; s < SLOTS; s++)
      slots[s] = 0;
    for (uint32_t k = 0; k < KEYS; k++)
      slots[slot_of(keys[k])] = k + 1;
    uint64_t found = 0;
    for (size_t k = 0; k < 2 * KEYS; k++)
      found += slots[slot_of(keys[k])];
    checksum = fold(checksum, found);
  }
  return checksum;
}
