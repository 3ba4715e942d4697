// All data is in ordinary memory, in which no model looks: the run must say so.
#include <stdio.h>
#include <stdlib.h>

struct row {
  unsigned long key, value;
  struct row *next;
};

enum { BITS = 12, ROWS = 1 << BITS, PROBES = 100000 };

static unsigned long slot(unsigned long key) { return key * 0x9e3779b97f4a7c15 >> (64 - BITS); }

__attribute__((noinline)) unsigned long probe(struct row **table, const unsigned long *keys) {
  unsigned long sum = 0;
  for (long i = 0; i < PROBES; i++)
    for (struct row *row = table[slot(keys[i])]; row; row = row->next)
      if (row->key == keys[i])
        sum += row->value;
  return sum;
}

int main(void) {
  struct row **table = calloc(ROWS, sizeof *table), *rows = malloc(ROWS * sizeof *rows);
  unsigned long *keys = malloc(PROBES * sizeof *keys);
  for (unsigned long i = 0; i < PROBES; i++)
    keys[i] = i * 7919 % (2 * ROWS);
  for (unsigned long i = 0; i < ROWS; i++) {
    struct row **head = &table[slot(i * 2)];
    rows[i] = (struct row){i * 2, i, *head};
    *head = &rows[i];
  }
  printf("%lu\n", probe(table, keys));
}
