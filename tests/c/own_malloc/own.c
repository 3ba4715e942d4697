#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
// Small: libflick takes little of the program's memory for itself, even where it names functions
// for the summary.
static char pool[1 << 20] __attribute__((aligned(64)));
static size_t used;

void *malloc(size_t n) {
  size_t at = (__atomic_fetch_add(&used, ((n + 15) & ~(size_t)15) + 16, __ATOMIC_SEQ_CST));
  if (n > sizeof pool || at + 16 + n > sizeof pool) {
    write(2, "own malloc: no memory\n", 22);
    abort();
  }
  *(size_t *)(pool + at) = n;
  return pool + at + 16;
}
void free(void *p) { (void)p; }
// Memory of the pool is zero, and used once. (gcc makes a calloc of a malloc and a memset.)
void *calloc(size_t a, size_t b) { return malloc(a * b); }
void *realloc(void *p, size_t n) {
  void *q = malloc(n);
  if (p) {
    size_t old = ((size_t *)p)[-2];
    memcpy(q, p, old < n ? old : n);
  }
  return q;
}
int owned(void *p) { return (char *)p >= pool && (char *)p < pool + sizeof pool; }
