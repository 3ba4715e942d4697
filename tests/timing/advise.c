// A program with something to move, something to move back, and something that has to stay;
// advise.sh has what of it is what.
#include <flick.h>
#include <stdio.h>
#include <stdlib.h>

#define APART __attribute__((noinline))

struct node {
  struct node *next;
  long value;
};

// Called by what moves, for each node: it has to go along.
APART static long weigh(long x) { return x ^ (x >> 7); }

// Follows NxP-local memory.
APART long walk(struct node *n, long sum) {
  for (; n; n = n->next)
    sum = sum * 3 + weigh(n->value);
  return sum;
}

// Does next to nothing, and crosses for it.
FLICK_NXP APART long poke(struct node *n) { return n->value++; }

// Works on the host's memory.
APART long scan(const long *table, long count) {
  long sum = 0;
  for (long i = 0; i < count; i++)
    sum += table[i * 7919 % count];
  return sum;
}

// Could not be placed.
APART long serial(struct node *n) {
  long sum = 0;
  for (int i = 0; i < 100; i++, n = n->next) {
    __asm__ volatile("cpuid" ::: "eax", "ebx", "ecx", "edx");
    sum += n->value;
  }
  return sum;
}

// The library calls it, on the host.
static int compare(const void *a, const void *b) {
  long x = *(const long *)a, y = *(const long *)b;
  return (x > y) - (x < y);
}

int main(void) {
  const long count = 20000;
  struct node *all = flick_alloc(FLICK_MEM_NXP, (size_t)count * sizeof *all);
  for (long i = 0; i < count; i++)
    all[i] = (struct node){i + 1 < count ? &all[i + 1] : NULL, i};
  long *table = malloc((size_t)count * sizeof *table);
  for (long i = 0; i < count; i++)
    table[i] = i * 31 % 1000;
  long sum = 0;
  for (int round = 0; round < 20; round++)
    sum = walk(all, sum);
  for (int i = 0; i < 2000; i++)
    sum += poke(&all[i]);
  sum += scan(table, count) + serial(all);
  qsort(table, (size_t)count, sizeof *table, compare);
  printf("%ld %ld\n", sum, table[count / 2]);
  return 0;
}
