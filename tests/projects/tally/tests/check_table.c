#include "table.h"

#include <stdio.h>

int main(void) {
  struct table *table = table_new();
  char text[2] = {0};
  for (int i = 0; i < 1000; i++) {
    text[0] = 'a' + i % 7;
    table_add(table, text, 1);
    table_add(table, "xy", 1 + i % 2);
  }
  struct tally_word words[16];
  long total = 0;
  int n = table_size(table);
  table_words(table, words);
  for (int i = 0; i < n; i++)
    total += words[i].count;
  table_free(table);
  printf("%d words, %ld in all\n", n, total);
  return !(n == 9 && total == 2000);
}
