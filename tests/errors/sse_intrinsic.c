// An intrinsic of a header, which is an inline function over one that only x86-64 has: it stays on
// the host, and its vector cannot cross.
// FAILS: compile FLK0206
// SAYS: '_mm_movemask_epi8'
// SAYS: 'signs'
#include <emmintrin.h>
#include <flick.h>

FLICK_NXP int signs(const void *bytes) {
  return _mm_movemask_epi8(_mm_loadu_si128(bytes)); /* HERE */
}

int main(void) {
  char bytes[16] = {0};
  return signs(bytes);
}
