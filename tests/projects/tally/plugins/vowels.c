#include "tally.h"

static int is_vowel(char c) { return c == 'a' || c == 'e' || c == 'i' || c == 'o' || c == 'u'; }

long tally_plugin_score(const struct tally_word *word) {
  long vowels = 0;
  for (const char *c = word->text; *c; c++)
    vowels += is_vowel(*c);
  return vowels;
}
