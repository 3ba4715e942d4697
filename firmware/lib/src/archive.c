#include "archive.h"

#include <flick/card.h>
#include <string.h>
#include <tar.h>

// A block of a tar archive (POSIX, pax, "ustar Interchange Format").
struct tar_block {
  char name[100], mode[8], uid[8], gid[8], size[12], mtime[12], checksum[8], type, link[100];
  char magic[6], version[2], user[32], group[32], major[8], minor[8], prefix[155], rest[12];
};

static size_t octal(const char *text, size_t length) {
  size_t value = 0;
  for (size_t n = 0; n < length && text[n] >= '0' && text[n] <= '7'; n++)
    value = value * 8 + (text[n] - '0');
  return value;
}

void __card_read_archive(void (*add)(const char *name, bool is_directory, char *data,
                                     size_t size)) {
  uint64_t size;
  int64_t start = flick_archive_map(&size);
  if (start < 0)
    return;
  const struct tar_block *block = (const struct tar_block *)start;
  const struct tar_block *end = block + size / sizeof *block;
  while (block < end && block->name[0]) {
    char name[sizeof block->prefix + sizeof block->name + 2] = "";
    if (memcmp(block->magic, TMAGIC, TMAGLEN - 1) == 0 && block->prefix[0]) {
      strncat(name, block->prefix, sizeof block->prefix);
      strcat(name, "/");
    }
    strncat(name, block->name, sizeof block->name);
    size_t length = octal(block->size, sizeof block->size);
    size_t blocks = (length + sizeof *block - 1) / sizeof *block;
    if (blocks >= (size_t)(end - block))
      return;
    if (block->type == DIRTYPE)
      add(name, true, NULL, 0);
    else if (block->type == REGTYPE || block->type == AREGTYPE)
      add(name, false, (char *)(block + 1), length);
    block += 1 + blocks;
  }
}
