// calloc, strdup, strndup, aligned_alloc, posix_memalign, asprintf from NxP code. Expects zeroed
// memory, alignment, and pointers that the host may free.
// OUT: 1 1 1 1 string/str/6 1
#define _GNU_SOURCE
#include <errno.h>
#include <flick.h>
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

FLICK_NXP static int zeroed(size_t n) {
  long *p = calloc(n, sizeof *p);
  long any = 0;
  for (size_t i = 0; i < n; i++)
    any |= p[i];
  memset(p, 0xff, n * sizeof *p);
  free(p);
  return any == 0;
}
FLICK_NXP static void *aligned(size_t alignment, size_t size) {
  return aligned_alloc(alignment, size);
}
FLICK_NXP static int positioned(void **p, size_t alignment) {
  return posix_memalign(p, alignment, 1000);
}
FLICK_NXP static char *copies(const char *s) {
  char *a = strdup(s), *b = strndup(s, 3), *c = NULL;
  int n = asprintf(&c, "%s/%s/%zu", a, b, strlen(a));
  free(a);
  free(b);
  return n > 0 ? c : NULL;
}
FLICK_NXP static int usable(void) {
  char *p = malloc(100);
  int ok = malloc_usable_size(p) >= 100;
  free(p);
  return ok;
}

int main(void) {
  int zero = 1, place = 1;
  for (size_t n = 1; n < 3000; n += 271)
    zero &= zeroed(n) & zeroed(n);
  for (size_t a = 16; a <= 65536; a *= 4) {
    void *p = aligned(a, a * 3), *q = NULL;
    place &= (uintptr_t)p % a == 0 && p;
    place &= positioned(&q, a) == 0 && (uintptr_t)q % a == 0;
    free(p);
    free(q);
  }
  void *untouched = &zero;
  int bad = positioned(&untouched, 24);
  char *c = copies("string");
  printf("%d %d %d %d %s %d\n", zero, place, bad == EINVAL, untouched == &zero, c, usable());
  free(c);
}
