// An SSE intrinsic of a header.
// FAILS: compile FLK0203
// SAYS: 'signs'
#include <emmintrin.h>
#include <flick.h>

FLICK_NXP int signs(const void *bytes) { return _mm_movemask_epi8(_mm_loadu_si128(bytes)); }

int main(void) {
  char bytes[16] = {0};
  return signs(bytes);
}
