/* Tally: ranks the words of a text. */
#ifndef TALLY_H
#define TALLY_H

#ifdef __cplusplus
extern "C" {
#endif

struct tally_word {
  const char *text;
  long count;
};

/* One step of the hash that table and checksum share. */
static inline unsigned tally_mix(unsigned hash, unsigned char byte) {
  return (hash ^ byte) * 16777619u;
}
#define TALLY_SEED 2166136261u

/* Orders words: by count, then by text. */
typedef int tally_order(const void *, const void *);
int tally_by_count(const void *a, const void *b);
void tally_rank(struct tally_word *words, int n, tally_order *order);

/* Depends on the words, their counts and their order. */
unsigned tally_checksum(const struct tally_word *words, int n);

const char *tally_version(void);

/* What a plugin defines. */
typedef long tally_score(const struct tally_word *word);
#define TALLY_PLUGIN "tally_plugin_score"
long tally_plugin_score(const struct tally_word *word);

#ifdef __cplusplus
}
#endif
#endif
