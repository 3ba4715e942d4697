// A program with an allocator of its own, without the rarer functions: NxP code gets its blocks
// from there, as the program's free expects.
// SKIP-VALGRIND: memcheck replaces the program's own malloc
// SKIP-ASAN: the heap is the sanitizer's there
// OUT: 3 of 3
#include "flick.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int owned(void *);
FLICK_NXP __attribute__((noinline)) int work(void) {
  char *a = malloc(10), *b = strdup("abc"), *c = calloc(3, 3);
  a = realloc(a, 100);
  int r = owned(a) + owned(b) + owned(c);
  free(a);
  free(b);
  free(c);
  return r;
}
int main(void) {
  printf("%d of 3\n", work());
  return 0;
}
