#include "config.h"
#include "tally.h"

unsigned tally_checksum(const struct tally_word *words, int n) {
  unsigned sum = TALLY_SEED;
  for (int i = 0; i < n; i++) {
    for (const char *c = words[i].text; *c; c++)
      sum = tally_mix(sum, *c);
    sum = tally_mix(sum, words[i].count & 255);
  }
  return sum;
}

const char *tally_version(void) { return TALLY_VERSION; }
