// An atomic operation on 16 bytes that clang makes an instruction of.
// FAILS: compile FLK0212
// SAYS: 'both_words'
// SAYS: atomic access of more than 64 bits
// CFLAGS: -mcx16
#include <flick.h>

__int128 words;
FLICK_NXP int both_words(__int128 old, __int128 new) {
  return __sync_bool_compare_and_swap(&words, old, new); /* HERE */
}

int main(void) { return both_words(0, 1) == 0; }
