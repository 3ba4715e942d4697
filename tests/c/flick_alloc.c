// flick_alloc of both kinds from both sides, freed by flick_free and free on either side; an
// unknown kind.
// OUT: 1498500 1213650 958800 733950
// OUT: 2997 2697 2397 2097
// OUT: 1 1
#include <errno.h>
#include <flick.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

FLICK_NXP static long fill(long *p, int n) {
  long s = 0;
  for (int i = 0; i < n; i++)
    s += p[i] = i * 3L;
  return s;
}
FLICK_NXP static long *take(int kind, int n) { return flick_alloc(kind, (size_t)n * sizeof(long)); }
FLICK_NXP static void give(void *p) { flick_free(p); }

int main(void) {
  long *a = flick_alloc(FLICK_MEM_NXP, 1000 * sizeof *a);
  long *b = flick_alloc(FLICK_MEM_HOST, 1000 * sizeof *b);
  long *c = take(FLICK_MEM_NXP, 1000), *d = take(FLICK_MEM_HOST, 1000);
  printf("%ld %ld %ld %ld\n", fill(a, 1000), fill(b, 900), fill(c, 800), fill(d, 700));
  printf("%ld %ld %ld %ld\n", a[999], b[899], c[799], d[699]);
  free(a);
  give(b);
  flick_free(c);
  give(d);
  errno = 0;
  void *e = flick_alloc(77, 8);
  printf("%d %d\n", e == NULL, errno == EINVAL);
  flick_free(NULL);
}
