#include "tally.h"

#include <stdio.h>
#include <string.h>

/* The library calls back: by text alone. */
static int by_text(const void *a, const void *b) {
  return strcmp(((const struct tally_word *)a)->text, ((const struct tally_word *)b)->text);
}

int main(void) {
  struct tally_word words[] = {{"pear", 2}, {"apple", 2}, {"fig", 9}};
  tally_rank(words, 3, tally_by_count);
  int good = !strcmp(words[0].text, "fig") && !strcmp(words[1].text, "apple");
  unsigned sum = tally_checksum(words, 3);
  tally_rank(words, 3, by_text);
  good &= !strcmp(words[2].text, "pear") && sum != tally_checksum(words, 3);
  printf("%s, version %s\n", good ? "ranked" : "wrong order", tally_version());
  return !good;
}
