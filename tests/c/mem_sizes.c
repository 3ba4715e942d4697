// memcpy, memmove, memset, memcmp, memchr and strlen in NxP code over every small size, alignment
// and overlap, and a few large sizes. Expects the host library's results.
// OUT: 441221977 892148790 3869741746
#include <flick.h>
#include <stdio.h>
#include <string.h>

static unsigned char a[400], b[400], c[100000], d[100000];

FLICK_NXP static unsigned hash(const unsigned char *p, size_t n) {
  unsigned h = 2166136261U;
  for (size_t i = 0; i < n; i++)
    h = (h ^ p[i]) * 16777619U;
  return h;
}
FLICK_NXP static unsigned copies(void) {
  unsigned h = 0;
  for (size_t n = 0; n < 130; n += n < 40 ? 1 : 13)
    for (size_t from = 0; from < 9; from++)
      for (size_t to = 0; to < 9; to += 2) {
        for (size_t i = 0; i < sizeof a; i++)
          a[i] = (unsigned char)(i * 7 + n), b[i] = (unsigned char)~i;
        memcpy(b + to, a + from, n);
        memmove(b + 200 + to, b + 200 + from, n);
        memset(a + 300 + to, (int)(n + from), n % 60);
        h = h * 31 + hash(a, sizeof a) + hash(b, sizeof b);
      }
  return h;
}
FLICK_NXP static unsigned compares(void) {
  unsigned r = 0;
  for (size_t n = 0; n < 70; n++) {
    memset(a, 'x', n);
    memset(b, 'x', n);
    a[n] = 0;
    r = r * 3 + (memcmp(a, b, n) == 0) + (unsigned)strlen((char *)a);
    if (n) {
      a[n / 2] = 0xf0;
      int x = memcmp(a, b, n), y = memcmp(b, a, n);
      const unsigned char *hit = memchr(a, 0xf0, n);
      r = r * 5 + (x > 0) + (y < 0) * 2 + (unsigned)(hit - a);
    }
  }
  return r;
}
FLICK_NXP static unsigned large(size_t n) {
  for (size_t i = 0; i < n; i++)
    c[i] = (unsigned char)(i >> 3);
  memcpy(d, c, n);
  memmove(d + 1000, d + 3, n - 1000);
  memmove(d, d + 77, n - 77);
  return hash(d, n);
}

int main(void) {
  unsigned h = copies();
  unsigned r = compares();
  printf("%u %u %u\n", h, r, large(sizeof c));
}
