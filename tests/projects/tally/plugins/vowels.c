#include "tally.h"

static int is_vowel(char c) { return c == 'a' || c == 'e' || c == 'i' || c == 'o' || c == 'u'; }

long tally_plugin_score(const struct tally_word *word) {
  long vowels = 0;
  for (const char *c = word->text; *c; c++)
    vowels += is_vowel(*c);
  /* The library that loaded this one is also one that it uses. */
  return 2 * vowels + (tally_checksum(word, 1) & 1);
}
