#include "tally.h"

long tally_plugin_score(const struct tally_word *word) {
  long length = 0;
  while (word->text[length])
    length++;
  return length * word->count;
}
