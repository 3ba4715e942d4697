// What the compiler's headers make of x86-64 instructions, used by NxP functions: what is an inline
// function over assembly or an intrinsic stays on the host and is called there (cpuid, time stamps,
// vectors of 16 bytes); what is portable beneath runs on the NxP (bit counting, prefetching).
// OUT: 1 1 1
// OUT: 8 24 3 100 6
#include <cpuid.h>
#include <flick.h>
#include <immintrin.h>
#include <stdio.h>
#include <string.h>
#include <x86intrin.h>

FLICK_NXP static int vendor(char name[13]) {
  unsigned a, b, c, d;
  if (!__get_cpuid(0, &a, &b, &c, &d))
    return 0;
  memcpy(name, &b, 4);
  memcpy(name + 4, &d, 4);
  memcpy(name + 8, &c, 4);
  name[12] = 0;
  return a > 0 && strlen(name) == 12;
}
FLICK_NXP static int features(void) {
  __builtin_cpu_init();
  return __builtin_cpu_supports("sse2") && _bit_scan_forward(8) == 3;
}
static inline unsigned long long stamp(void) { return __rdtsc(); }
FLICK_NXP static int stamps(void) {
  unsigned long long first = stamp(), second = stamp();
  return second >= first;
}
FLICK_NXP static int stream(int *p) {
  *p = 24;
  _mm_sfence();
  _mm_prefetch((const char *)p, _MM_HINT_T0);
  _mm_mfence();
  return *p;
}
FLICK_NXP static int vectors(const int *p) {
  __m128i v = _mm_loadu_si128((const __m128i *)p);
  v = _mm_madd_epi16(v, _mm_set1_epi16(1));
  v = _mm_add_epi32(v, _mm_shuffle_epi32(v, _MM_SHUFFLE(1, 0, 3, 2)));
  v = _mm_add_epi32(v, _mm_shuffle_epi32(v, _MM_SHUFFLE(2, 3, 0, 1)));
  return _mm_cvtsi128_si32(v);
}

int main(void) {
  char name[13];
  int n = vendor(name), word = 0, numbers[4] = {10, 20, 30, 40};
  printf("%d %d %d\n", n, features(), stamps());
  printf("%d %d %d %d %d\n", __builtin_popcount(255), stream(&word), __builtin_ctz(8),
         vectors(numbers), __builtin_parity(7) * 6);
}
