// Memory that a program maps by itself (docs/card-programs.md). A file is copied there.
#include <errno.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <unistd.h>

#include "pages.h"

// What the kernel maps at once.
#define MOST_MAPPED ((size_t)FLICK_PAGES_AT_ONCE * FLICK_PAGE)

static void *fail(int error) {
  errno = error;
  return MAP_FAILED;
}

static bool fill(char *to, size_t size, int file, off_t offset) {
  size_t done = 0;
  while (done < size) {
    ssize_t got = pread(file, to + done, size - done, offset + done);
    if (got < 0)
      return false;
    // Behind the end of the file there are zeros.
    if (got == 0)
      break;
    done += got;
  }
  return true;
}

// Pages without rights need none of the kernel's calls: they are readable.
static uint64_t rights_of(int rights) {
  return FLICK_READ | (rights & PROT_WRITE ? FLICK_WRITE : 0) |
         (rights & PROT_EXEC ? FLICK_EXECUTE : 0);
}

void *mmap(void *address, size_t size, int rights, int flags, int file, off_t offset) {
  (void)address;
  bool is_file = !(flags & MAP_ANONYMOUS);
  if (!size || size > SIZE_MAX - FLICK_PAGE || flags & MAP_FIXED || offset % FLICK_PAGE)
    return fail(EINVAL);
  if (is_file && flags & MAP_SHARED && rights & PROT_WRITE)
    return fail(ENODEV);
  // A copy is written first.
  int first = is_file ? rights | PROT_WRITE : rights;
  if (size > MOST_MAPPED)
    return fail(ENOMEM);
  int64_t at = flick_memory_map(0, whole_pages(size), rights_of(first));
  if (at < 0)
    return fail(flick_errno(at));
  if (!is_file || fill((char *)at, size, file, offset))
    return (void *)at;
  int error = errno;
  flick_memory_unmap(at, whole_pages(size));
  return fail(error);
}

int munmap(void *address, size_t size) {
  if (!size || (uintptr_t)address % FLICK_PAGE) {
    errno = EINVAL;
    return -1;
  }
  int64_t result = flick_memory_unmap((uintptr_t)address, whole_pages(size));
  if (result >= 0)
    return 0;
  errno = flick_errno(result);
  return -1;
}

int msync(void *address, size_t size, int flags) {
  (void)address;
  (void)size;
  (void)flags;
  return 0;
}
