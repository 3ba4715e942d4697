#include "table.h"
#include "config.h"

#include <stdlib.h>
#include <string.h>

struct entry {
  struct entry *next;
  unsigned hash;
  long count;
  char text[];
};
struct table {
  int size;
  struct entry *buckets[TALLY_BUCKETS];
};

struct table *table_new(void) { return calloc(1, sizeof(struct table)); }

void table_free(struct table *table) {
  for (int i = 0; i < TALLY_BUCKETS; i++)
    for (struct entry *entry = table->buckets[i], *next; entry; entry = next) {
      next = entry->next;
      free(entry);
    }
  free(table);
}

static unsigned hash_of(const char *text, int length) {
  unsigned hash = TALLY_SEED;
  for (int i = 0; i < length; i++)
    hash = tally_mix(hash, text[i]);
  /* The last bytes shall reach all bits. */
  hash = (hash ^ hash >> 16) * 0x85ebca6bu;
  hash = (hash ^ hash >> 13) * 0xc2b2ae35u;
  hash = (hash ^ hash >> 15) * 0x27d4eb2fu;
  return hash ^ hash >> 16;
}

void table_add(struct table *table, const char *text, int length) {
  unsigned hash = hash_of(text, length);
  struct entry **at = &table->buckets[hash % TALLY_BUCKETS], *entry;
  for (entry = *at; entry; entry = entry->next)
    if (entry->hash == hash && memcmp(entry->text, text, length) == 0 && !entry->text[length]) {
      entry->count++;
      return;
    }
  entry = malloc(sizeof *entry + length + 1);
  if (!entry)
    abort();
  memcpy(entry->text, text, length);
  entry->text[length] = '\0';
  entry->hash = hash;
  entry->count = 1;
  entry->next = *at;
  *at = entry;
  table->size++;
}

int table_size(const struct table *table) { return table->size; }

void table_words(const struct table *table, struct tally_word *words) {
  for (int i = 0; i < TALLY_BUCKETS; i++)
    for (const struct entry *entry = table->buckets[i]; entry; entry = entry->next)
      *words++ = (struct tally_word){entry->text, entry->count};
}
