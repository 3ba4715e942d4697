// Two functions that seem to gain on the NxP. The one follows data that is there. The other
// allocates, and what it has allocated is far from the host from then on: only a run shows that.
#include <flick.h>
#include <stdio.h>
#include <stdlib.h>

struct word {
  struct word *next;
  unsigned long text;
};

enum { WORDS = 20000, ROUNDS = 10, TABLE = 1 << 16 };

__attribute__((noinline)) unsigned long scan(const unsigned long *table) {
  unsigned long sum = 0;
  for (long i = 0; i < TABLE; i++)
    sum = table[(sum + (unsigned long)i) % TABLE];
  return sum;
}

// Its seed follows the table, too.
__attribute__((noinline)) struct word *parse(const unsigned long *table) {
  struct word *first = NULL;
  unsigned long at = 1;
  for (long i = 0; i < WORDS; i++) {
    struct word *word = malloc(sizeof *word);
    at = (table[at] * 5 + 7919) % TABLE;
    word->text = table[at] + table[(at + 4099) % TABLE];
    word->next = first;
    first = word;
  }
  return first;
}

__attribute__((noinline)) unsigned long weigh(const struct word *word, unsigned long sum) {
  for (; word; word = word->next)
    sum = sum * 3 + word->text;
  return sum;
}

int main(void) {
  unsigned long *table = flick_alloc(FLICK_MEM_NXP, TABLE * sizeof *table);
  for (unsigned long i = 0; i < TABLE; i++)
    table[i] = i;
  unsigned long sum = scan(table);
  struct word *words = parse(table);
  for (int i = 0; i < ROUNDS; i++)
    sum = weigh(words, sum);
  printf("%lu\n", sum);
}
