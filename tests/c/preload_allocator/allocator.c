// Blocks of two sizes from static pools, so that a block of another allocator is told at once. As
// some allocators do, it leaves reallocarray to the C library, which calls realloc.
#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { SMALL = 256, LARGE = 512 << 10, SMALLS = 8192, LARGES = 64, HEADER = 64 };
static _Alignas(4096) char small_pool[SMALLS][SMALL + HEADER];
static _Alignas(4096) char large_pool[LARGES][LARGE];
static atomic_char small_taken[SMALLS], large_taken[LARGES];
static atomic_long used;

static int within(const void *p, const void *pool, size_t size) {
  return (uintptr_t)p - (uintptr_t)pool < size;
}
static int is_small(const void *p) { return within(p, small_pool, sizeof small_pool); }
static int is_large(const void *p) { return within(p, large_pool, sizeof large_pool); }
int allocator_owns(const void *p);
int allocator_owns(const void *p) { return is_small(p) || is_large(p); }
long allocator_used(void);
long allocator_used(void) { return used; }

static void *take(size_t size) {
  char none;
  for (int i = 0; size <= SMALL && i < SMALLS; i++)
    if (none = 0, atomic_compare_exchange_strong(&small_taken[i], &none, 1)) {
      used++;
      return small_pool[i];
    }
  for (int i = 0; size > SMALL && size <= LARGE && i < LARGES; i++)
    if (none = 0, atomic_compare_exchange_strong(&large_taken[i], &none, 1)) {
      used++;
      return large_pool[i];
    }
  errno = ENOMEM;
  return NULL;
}
void *malloc(size_t size) { return take(size); }
void free(void *p) {
  if (!p)
    return;
  if (!allocator_owns(p))
    abort();
  used--;
  if (is_small(p))
    small_taken[((char *)p - small_pool[0]) / (SMALL + HEADER)] = 0;
  else
    large_taken[((char *)p - large_pool[0]) / LARGE] = 0;
}
size_t malloc_usable_size(void *p);
size_t malloc_usable_size(void *p) { return !p ? 0 : is_small(p) ? SMALL : LARGE; }
void *calloc(size_t n, size_t size) {
  void *p = take(n * size);
  return p ? memset(p, 0, n * size) : p;
}
void *realloc(void *p, size_t size) {
  if (p && !allocator_owns(p))
    abort();
  void *q = take(size);
  if (p && q) {
    size_t old = malloc_usable_size(p);
    memcpy(q, p, old < size ? old : size);
    free(p);
  }
  return q;
}
void *aligned_alloc(size_t alignment, size_t size) { return take(alignment > 64 ? LARGE : size); }
void *memalign(size_t alignment, size_t size);
void *memalign(size_t alignment, size_t size) { return aligned_alloc(alignment, size); }
int posix_memalign(void **p, size_t alignment, size_t size) {
  *p = aligned_alloc(alignment, size);
  return *p ? 0 : ENOMEM;
}
