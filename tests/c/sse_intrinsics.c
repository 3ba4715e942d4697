// Intrinsics of <emmintrin.h> in an NxP function: those over an instruction of x86-64 are
// functions of the host, and their 16-byte vectors cross.
// OUT: 2009 6 14
#include <emmintrin.h>
#include <flick.h>
#include <stdio.h>

FLICK_NXP static int signs(const void *bytes) { return _mm_movemask_epi8(_mm_loadu_si128(bytes)); }
FLICK_NXP static int distance(const unsigned char *a, const unsigned char *b) {
  __m128i x = _mm_loadu_si128((const void *)a), y = _mm_loadu_si128((const void *)b);
  __m128i sums = _mm_sad_epu8(x, y);
  return _mm_cvtsi128_si32(_mm_add_epi32(sums, _mm_srli_si128(sums, 8)));
}
FLICK_NXP static int scalar(double x) {
  return _mm_cvtsd_si32(_mm_sqrt_sd(_mm_set_sd(x), _mm_set_sd(x)));
}

int main(void) {
  unsigned char a[16] = {0x80}, b[16] = {0x80, 1, 2, 3};
  a[3] = 0x80 + 1;
  a[13] = 0xff;
  int s = signs(a);
  a[3] = a[13] = 0;
  printf("%x %d %d\n", s, distance(a, b), scalar(200));
}
