// malloc: blocks of classes of sizes, four in each doubling, with a list of free blocks each. Large
// blocks are mapped alone, and unmapped when they are free. All of it is under one lock.
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "pages.h"
#include "thread.h"

// Behind what the kernel chooses for memory_map, and below the end of user addresses.
#define HEAP 0x3000000000ul
#define HEAP_END 0x3200000000ul
#define LARGE_END 0x4000000000ul
// Pages are mapped in pieces, and take memory at their first access.
#define PIECE (64ul << 10)
#define MOST_AT_ONCE ((uint64_t)FLICK_PAGES_AT_ONCE * FLICK_PAGE)
// Blocks above this size, with their header, are large.
#define MOST_SMALL (256ul << 10)
#define ALIGNMENT 16ul
#define CLASSES 160

// In front of each block, so that blocks are at multiples of 16.
struct header {
  uint32_t class;
  // Bytes from the true header to this one, of a block with a larger alignment.
  uint32_t behind;
  // Of a large block, what is mapped, with the header.
  uint64_t mapped;
};

// A free block, or a free range of addresses of a large one.
struct free_block {
  struct free_block *next;
  uint64_t address;
};

static struct card_word lock;
static struct {
  _Alignas(CARD_LINE) struct free_block *of[CLASSES];
} free_blocks;
// The end of small blocks, and of what is mapped for them; the end of large blocks.
static struct {
  _Alignas(CARD_LINE) uint64_t at;
  uint64_t mapped, large_at;
} heap = {HEAP, HEAP, HEAP_END};

// Class n has 16 * (n + 1) bytes below 128; from there on four classes share a doubling.
static uint32_t class_of(uint64_t size) {
  if (size <= 128)
    return (size + 15) / 16 - 1;
  int top = 63 - __builtin_clzl(size - 1);
  return 8 + (top - 7) * 4 + ((size - 1) >> (top - 2) & 3);
}

// Where caches write back, no two blocks share a line.
static uint64_t in_lines(uint64_t size) {
  bool writes_back = flick_program.incoherent == CARD_WRITES_BACK;
  return writes_back ? (size + CARD_LINE - 1) & -CARD_LINE : size;
}

static uint64_t class_size(uint32_t class) {
  if (class < 8)
    return 16 * (class + 1);
  return (uint64_t)(5 + (class - 8) % 4) << (5 + (class - 8) / 4);
}

static void unmap(uint64_t at, uint64_t size) {
  for (uint64_t piece; size; at += piece, size -= piece) {
    piece = size < MOST_AT_ONCE ? size : MOST_AT_ONCE;
    flick_memory_unmap(at, piece);
  }
}

// All of it, or none.
static bool map(uint64_t at, uint64_t size) {
  uint64_t done = 0;
  while (done < size) {
    uint64_t piece = size - done < MOST_AT_ONCE ? size - done : MOST_AT_ONCE;
    if (flick_memory_map(at + done, piece, FLICK_READ | FLICK_WRITE) < 0) {
      unmap(at, done);
      return false;
    }
    done += piece;
  }
  return true;
}

static struct header *new_small(uint32_t class) {
  struct free_block *block = free_blocks.of[class];
  if (block) {
    free_blocks.of[class] = block->next;
    return (struct header *)block;
  }
  uint64_t size = class_size(class), at = heap.at;
  if (at + size > heap.mapped) {
    uint64_t more = (at + size - heap.mapped + PIECE - 1) / PIECE * PIECE;
    if (heap.mapped + more > HEAP_END || !map(heap.mapped, more))
      return NULL;
    heap.mapped += more;
  }
  heap.at += size;
  return (struct header *)at;
}

static void free_small(void *block, uint32_t class) {
  struct free_block *free = block;
  free->next = free_blocks.of[class];
  free_blocks.of[class] = free;
}

static struct header *new_large(uint64_t size, uint32_t class) {
  struct free_block *range = free_blocks.of[class];
  uint64_t at = range ? range->address : heap.large_at;
  if (at + class_size(class) > LARGE_END || !map(at, whole_pages(size)))
    return NULL;
  if (range) {
    free_blocks.of[class] = range->next;
    free_small(range, class_of(in_lines(sizeof *range)));
  } else {
    // A page between two blocks is never mapped.
    heap.large_at += whole_pages(class_size(class)) + FLICK_PAGE;
  }
  struct header *header = (struct header *)at;
  header->mapped = whole_pages(size);
  return header;
}

static void free_large(struct header *header, uint32_t class) {
  uint64_t at = (uintptr_t)header;
  unmap(at, header->mapped);
  // Without a place to remember them, the addresses are lost, and nothing else.
  struct free_block *range = (struct free_block *)new_small(class_of(in_lines(sizeof *range)));
  if (!range)
    return;
  range->address = at;
  range->next = free_blocks.of[class];
  free_blocks.of[class] = range;
}

static void *allocate(size_t size) {
  uint64_t needed = in_lines(size + sizeof(struct header));
  struct header *header = NULL;
  if (needed > size && needed < LARGE_END) {
    uint32_t class = class_of(needed);
    card_lock(&lock.word);
    header = needed <= MOST_SMALL ? new_small(class) : new_large(needed, class);
    if (header) {
      header->class = class;
      header->behind = 0;
    }
    card_unlock(&lock.word);
  }
  if (!header) {
    errno = ENOMEM;
    return NULL;
  }
  return header + 1;
}

// A block may have a lock in it, which has a line of its own.
void *malloc(size_t size) {
  return flick_program.incoherent == CARD_WRITES_BACK ? memalign(CARD_LINE, size) : allocate(size);
}

static struct header *header_of(void *block) {
  struct header *header = (struct header *)block - 1;
  return (struct header *)((char *)header - header->behind);
}

static bool is_small(const struct header *header) {
  return class_size(header->class) <= MOST_SMALL;
}

void free(void *block) {
  if (!block)
    return;
  struct header *header = header_of(block);
  card_lock(&lock.word);
  uint32_t class = header->class;
  if (is_small(header))
    free_small(header, class);
  else
    free_large(header, class);
  card_unlock(&lock.word);
}

// Bytes that a block has room for.
size_t malloc_usable_size(void *block) {
  struct header *header = header_of(block);
  uint64_t size = is_small(header) ? class_size(header->class) : header->mapped;
  return (char *)header + size - (char *)block;
}

void *calloc(size_t count, size_t size) {
  size_t all;
  if (__builtin_mul_overflow(count, size, &all)) {
    errno = ENOMEM;
    return NULL;
  }
  void *block = malloc(all);
  // Pages of large blocks are new, and read as zero.
  if (block && is_small(header_of(block)))
    memset(block, 0, all);
  return block;
}

void *realloc(void *block, size_t size) {
  if (!block)
    return malloc(size);
  size_t room = malloc_usable_size(block);
  // A block that is much too large would keep memory from others.
  if (size <= room && size >= room / 4)
    return block;
  void *other = malloc(size);
  if (!other)
    return NULL;
  memcpy(other, block, size < room ? size : room);
  free(block);
  return other;
}

void *memalign(size_t alignment, size_t size) {
  if (alignment <= ALIGNMENT)
    return malloc(size);
  if (alignment & (alignment - 1) || size + alignment < size) {
    errno = EINVAL;
    return NULL;
  }
  char *block = allocate(size + alignment);
  if (!block)
    return NULL;
  char *aligned = (char *)(((uintptr_t)block + alignment - 1) & -alignment);
  if (aligned != block)
    ((struct header *)aligned - 1)->behind = aligned - block;
  return aligned;
}

void *aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }

int posix_memalign(void **block, size_t alignment, size_t size) {
  int before = errno;
  void *made = memalign(alignment, size);
  int error = made ? 0 : errno;
  errno = before;
  if (made)
    *block = made;
  return error;
}
