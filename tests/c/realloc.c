// realloc and reallocarray across sides: grown and shrunk by whoever did not allocate. Expects the
// contents to follow and alignment to hold.
// OUT: 11 of 11
#define _GNU_SOURCE
#include <flick.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

FLICK_NXP static int *nxp_grow(int *p, size_t n) { return realloc(p, n * sizeof *p); }
FLICK_HOST static int *host_grow(int *p, size_t n) { return reallocarray(p, n, sizeof *p); }

static int check(const int *p, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (p[i] != (int)(i * 7))
      return 0;
  return (uintptr_t)p % 16 == 0;
}

int main(void) {
  int *p = NULL, good = 0, rounds = 0;
  size_t have = 0;
  static const size_t sizes[] = {3, 10, 100, 1000, 30, 5000, 200000, 7, 100000, 100001};
  for (int i = 0; i < 10; i++) {
    size_t n = sizes[i], keep = n < have ? n : have;
    p = i % 2 ? host_grow(p, n) : nxp_grow(p, n);
    good += p && check(p, keep);
    for (size_t k = keep; k < n; k++)
      p[k] = (int)(k * 7);
    have = n;
    rounds++;
  }
  p = nxp_grow(host_grow(p, 50), 60);
  good += check(p, 50);
  free(p);
  printf("%d of %d\n", good, rounds + 1);
}
