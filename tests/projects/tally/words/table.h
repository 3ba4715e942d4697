/* A hash table of words and their counts. */
#ifndef TABLE_H
#define TABLE_H

#include "tally.h"

struct table;
struct table *table_new(void);
void table_free(struct table *table);
/* Counts a word of `length` bytes. */
void table_add(struct table *table, const char *text, int length);
int table_size(const struct table *table);
/* Fills `words`, which has room for `table_size`. */
void table_words(const struct table *table, struct tally_word *words);

#endif
