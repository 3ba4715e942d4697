/* An allocator to preload: it ends the program when it is given a block that is not its own. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAGIC 0x1234567890abcdefu

struct header {
  uint64_t magic;
  size_t size;
};

static _Alignas(4096) char arena[1 << 30];
static size_t used;

void *memalign(size_t align, size_t size) {
  if (align < 16)
    align = 16;
  if (size > sizeof arena) {
    errno = ENOMEM;
    return NULL;
  }
  size_t room = size + align + sizeof(struct header) + 16;
  size_t at = __atomic_fetch_add(&used, room, __ATOMIC_RELAXED) + sizeof(struct header);
  if (at + room > sizeof arena) {
    errno = ENOMEM;
    return NULL;
  }
  uintptr_t block = ((uintptr_t)arena + at + align - 1) & ~(align - 1);
  struct header *header = (struct header *)block - 1;
  header->magic = MAGIC;
  header->size = size;
  return (void *)block;
}

static struct header *header_of(void *block) {
  struct header *header = (struct header *)block - 1;
  if ((char *)block < arena || (char *)block > arena + sizeof arena || header->magic != MAGIC) {
    static const char text[] = "preloaded.c: foreign block\n";
    write(2, text, sizeof text - 1);
    _exit(99);
  }
  return header;
}

void *malloc(size_t size) { return memalign(16, size); }

void *calloc(size_t count, size_t size) {
  if (size && count > SIZE_MAX / size) {
    errno = ENOMEM;
    return NULL;
  }
  return memalign(16, count * size); /* the arena is never used twice */
}

void free(void *block) {
  if (block)
    header_of(block)->magic = 0;
}

void *realloc(void *block, size_t size) {
  if (!block)
    return malloc(size);
  size_t old = header_of(block)->size;
  if (!size) {
    free(block);
    return NULL;
  }
  void *grown = malloc(size);
  if (grown) {
    memcpy(grown, block, old < size ? old : size);
    free(block);
  }
  return grown;
}

void *reallocarray(void *block, size_t count, size_t size) {
  if (size && count > SIZE_MAX / size) {
    errno = ENOMEM;
    return NULL;
  }
  return realloc(block, count * size);
}

size_t malloc_usable_size(void *block) { return block ? header_of(block)->size : 0; }
void *aligned_alloc(size_t align, size_t size) { return memalign(align, size); }
