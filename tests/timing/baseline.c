// What placed functions allocate is NxP memory in a run, and ordinary memory with nothing placed:
// the host goes through it many times, and only with nothing placed is that cheap. Another table is
// NxP memory in any case.
#include <flick.h>
#include <stdio.h>
#include <stdlib.h>

struct word {
  struct word *next;
  unsigned long text;
};

enum { WORDS = 20000, TABLE = 1 << 16 };

// Has memory of its own, grown and given back.
FLICK_NXP __attribute__((noinline)) struct word *parse(unsigned long seed) {
  struct word *first = NULL;
  unsigned long *buffer = malloc(64 * sizeof *buffer);
  for (long i = 0; i < WORDS; i++) {
    if (i == 1000)
      buffer = realloc(buffer, 4096 * sizeof *buffer);
    buffer[i % (i < 1000 ? 64 : 4096)] = seed;
    struct word *word = malloc(sizeof *word);
    word->text = seed = seed * 6364136223846793005 + 1442695040888963407;
    word->next = first;
    first = word;
  }
  free(buffer);
  return first;
}

FLICK_NXP __attribute__((noinline)) unsigned long scan(const unsigned long *table) {
  unsigned long sum = 0;
  for (long i = 0; i < TABLE; i++)
    sum = table[(sum + i) % TABLE];
  return sum;
}

FLICK_HOST __attribute__((noinline)) unsigned long weigh(const struct word *word,
                                                         unsigned long sum) {
  for (; word; word = word->next)
    sum = sum * 3 + word->text;
  return sum;
}

int main(void) {
  unsigned long *table = flick_alloc(FLICK_MEM_NXP, TABLE * sizeof *table);
  for (long i = 0; i < TABLE; i++)
    table[i] = (unsigned long)i;
  struct word *words = parse(1);
  unsigned long sum = 0;
  for (int i = 0; i < 20; i++)
    sum = weigh(words, sum);
  sum += scan(table);
  while (words) {
    struct word *next = words->next;
    free(words);
    words = next;
  }
  flick_free(table);
  printf("%lu\n", sum);
}
