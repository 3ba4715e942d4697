#include "tally.h"

#include <stdlib.h>
#include <string.h>

int tally_by_count(const void *a, const void *b) {
  const struct tally_word *x = a, *y = b;
  if (x->count != y->count)
    return x->count > y->count ? -1 : 1;
  return strcmp(x->text, y->text);
}

void tally_rank(struct tally_word *words, int n, tally_order *order) {
  qsort(words, n, sizeof *words, order);
}
