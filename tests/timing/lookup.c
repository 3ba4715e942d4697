// A table of records: to fill it takes a product for each of them on the host, and additions on the
// NxP, whose core has no multiplier on flick-isca20. To look keys up takes the product on both
// sides.
#include <flick.h>
#include <stdio.h>

#define APART __attribute__((noinline))

struct record {
  unsigned long key;
  long value;
  struct record *next;
};

enum { BITS = 14, BUCKETS = 1 << BITS, RECORDS = 1 << (BITS + 1) };

static struct record **bucket(struct record **table, unsigned long key) {
  return &table[key * 0x9e3779b97f4a7c15 >> (64 - BITS)];
}

APART void fill(struct record **table, struct record *records) {
  for (unsigned long i = 0; i < BUCKETS; i++)
    table[i] = NULL;
  for (unsigned long i = 0; i < RECORDS; i++) {
    struct record **head = bucket(table, i);
    records[i] = (struct record){i, (long)i & 7, *head};
    *head = &records[i];
  }
}

// Sums the values of `count` keys from `first` on.
APART long look_up(struct record **table, unsigned long first, long count) {
  long sum = 0;
  for (unsigned long key = first; count-- > 0; key++)
    for (struct record *r = *bucket(table, key); r; r = r->next)
      if (r->key == key)
        sum += r->value;
  return sum;
}

int main(void) {
  struct record **table = flick_alloc(FLICK_MEM_NXP, BUCKETS * sizeof *table);
  struct record *records = flick_alloc(FLICK_MEM_NXP, RECORDS * sizeof *records);
  fill(table, records);
  long sum = 0;
  for (unsigned long first = 0; first < 10000; first += 100)
    sum += look_up(table, first, 100);
  printf("%ld\n", sum);
}
