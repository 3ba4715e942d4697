// Programs of files: their segments become memory of a process.
#include <elf.h>
#include <errno.h>
#include <string.h>

#include "servers.h"

#define MOST_SEGMENTS 64
// Behind it are what the kernel maps and what the servers do.
#define LOAD_END 0x1000000000ul

// The servers map pages, fill them, give them to the process, and have them no more.
static int64_t give_piece(uint64_t process, uint64_t target, uint64_t size, unsigned rights,
                          const void *bytes, uint64_t filled) {
  int64_t result = flick_memory_map(SCRATCH, size, FLICK_READ | FLICK_WRITE | FLICK_EXECUTE);
  if (result < 0)
    return reply_of(result);
  memcpy((void *)SCRATCH, bytes, filled);
  result = flick_process_map(process, target, SCRATCH, size, rights);
  flick_memory_unmap(SCRATCH, size);
  return reply_of(result);
}

int64_t give_memory(uint64_t process, uint64_t target, uint64_t size, unsigned rights,
                    const void *bytes, uint64_t filled) {
  if (!memory_is_left(filled))
    return -ENOMEM;
  const char *from = bytes;
  while (size) {
    uint64_t piece = size < MOST_MAPPED ? size : MOST_MAPPED;
    uint64_t fill = filled < piece ? filled : piece;
    int64_t result = give_piece(process, target, piece, rights, from, fill);
    if (result < 0)
      return result;
    target += piece;
    size -= piece;
    filled -= fill;
    from += fill;
  }
  return 0;
}

static unsigned rights_of(const Elf64_Phdr *segment) {
  return (segment->p_flags & PF_R ? FLICK_READ : 0) | (segment->p_flags & PF_W ? FLICK_WRITE : 0) |
         (segment->p_flags & PF_X ? FLICK_EXECUTE : 0);
}

static int64_t load_segment(uint64_t process, const struct image *image,
                            const Elf64_Phdr *segment) {
  if (segment->p_offset > image->size || segment->p_filesz > image->size - segment->p_offset ||
      segment->p_filesz > segment->p_memsz || segment->p_vaddr >= LOAD_END ||
      segment->p_memsz > LOAD_END - segment->p_vaddr)
    return -ENOEXEC;
  if (segment->p_memsz == 0)
    return 0;
  // The bytes in front of a segment in its first page are those in front of it in the file.
  uint64_t before = segment->p_vaddr % FLICK_PAGE;
  if (before > segment->p_offset)
    return -ENOEXEC;
  return give_memory(process, segment->p_vaddr - before, before + segment->p_memsz,
                     rights_of(segment), image->data + segment->p_offset - before,
                     segment->p_filesz ? before + segment->p_filesz : 0);
}

int64_t load_program(uint64_t process, struct image *image) {
  Elf64_Ehdr header;
  if (image->size < sizeof header)
    return -ENOEXEC;
  memcpy(&header, image->data, sizeof header);
  if (memcmp(header.e_ident, ELFMAG, SELFMAG) || header.e_ident[EI_CLASS] != ELFCLASS64 ||
      header.e_machine != EM_RISCV || header.e_phentsize != sizeof(Elf64_Phdr) ||
      header.e_phnum > MOST_SEGMENTS || header.e_phoff > image->size ||
      header.e_phnum * sizeof(Elf64_Phdr) > image->size - header.e_phoff)
    return -ENOEXEC;
  for (unsigned n = 0; n < header.e_phnum; n++) {
    Elf64_Phdr segment;
    memcpy(&segment, image->data + header.e_phoff + n * sizeof segment, sizeof segment);
    int64_t result = segment.p_type == PT_LOAD ? load_segment(process, image, &segment) : 0;
    if (result < 0)
      return result == -ENOMEM ? result : -ENOEXEC;
  }
  image->entry = header.e_entry;
  return 0;
}
