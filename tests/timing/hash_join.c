// A hash join: keys are looked up in a table of chains that no cache of the platform holds. The
// table is ordinary memory, or NxP memory.
#include <flick.h>
#include <stdio.h>
#include <stdlib.h>

struct row {
  struct row *next;
  unsigned long key, value, rest[5];
};

enum { ROWS = 1 << 16, LOOKUPS = 1 << 17 };

#ifdef TABLE_nxp
#define TAKE(size) flick_alloc(FLICK_MEM_NXP, size)
#else
#define TAKE(size) aligned_alloc(64, size)
#endif

static unsigned long hash(unsigned long key) { return key * 0x9e3779b97f4a7c15 >> 48; }

FLICK_NXP __attribute__((noinline)) unsigned long join(struct row *const *heads,
                                                       const unsigned long *keys, long count) {
  unsigned long sum = 0;
  for (long i = 0; i < count; i++)
    for (const struct row *row = heads[hash(keys[i])]; row; row = row->next)
      if (row->key == keys[i]) {
        sum += row->value;
        break;
      }
  return sum;
}

int main(void) {
  struct row **heads = TAKE(ROWS * sizeof *heads);
  struct row *rows = TAKE(ROWS * sizeof *rows);
  unsigned long *keys = TAKE(LOOKUPS * sizeof *keys);
  for (long i = 0; i < ROWS; i++)
    heads[i] = NULL;
  unsigned long seed = 1;
  for (long i = 0; i < ROWS; i++) {
    seed = seed * 6364136223846793005 + 1442695040888963407;
    // Neighbours in the table are none in a chain.
    struct row *row = &rows[i * 40503 % ROWS], **head = &heads[hash(seed)];
    row->key = seed;
    row->value = (unsigned long)i;
    row->next = *head;
    *head = row;
  }
  for (long i = 0; i < LOOKUPS; i++)
    keys[i] = rows[i * 7919 % ROWS].key;
  printf("%lu\n", join(heads, keys, LOOKUPS));
}
