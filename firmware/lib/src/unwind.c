// Exceptions of C++: which entry of .eh_frame describes the code at an address. The linker makes a
// sorted table of them (.eh_frame_hdr). libgcc, which has the rest of the unwinder, would look in
// what is registered at run time, and was built without threads.
#include <elf.h>
#include <string.h>
#include <unwind.h>

#include "thread.h"

// Encodings of DWARF's pointers in that table: to itself or to the table's start, in 32 bits.
enum { ABSOLUTE_U32 = 0x03, TO_SELF_I32 = 0x1b, TO_TABLE_I32 = 0x3b };

struct table {
  uint8_t version, frame_encoding, count_encoding, entry_encoding;
  int32_t frame;
  uint32_t count;
  // Differences to the table's address.
  struct {
    int32_t code, entry;
  } entries[];
};

// What libgcc calls `fde`, and an entry's common part, `cie`. Both have further fields.
struct entry {
  uint32_t length;
  int32_t to_common;
  uint8_t start_and_size[];
};

struct common {
  uint32_t length, zero;
  uint8_t version;
  char augmentation[];
};

struct dwarf_eh_bases {
  void *text, *data, *function;
};

static const struct table *find_table(void) {
  const Elf64_Phdr *segment = __card_segment(PT_GNU_EH_FRAME);
  const struct table *table = segment ? (const struct table *)segment->p_vaddr : NULL;
  bool is_known = table && table->version == 1 && table->frame_encoding == TO_SELF_I32 &&
                  table->count_encoding == ABSOLUTE_U32 && table->entry_encoding == TO_TABLE_I32;
  return is_known ? table : NULL;
}

static const uint8_t *behind_leb128(const uint8_t *at) {
  while (*at++ & 0x80)
    ;
  return at;
}

static unsigned size_of(uint8_t encoding) {
  switch (encoding & 7) {
  case 2:
    return 2;
  case 3:
    return 4;
  default:
    return 8;
  }
}

// How an entry has the start and the size of its code.
static uint8_t code_encoding(const struct common *common) {
  const char *letter = common->augmentation;
  if (*letter++ != 'z')
    return 0;
  const uint8_t *at = (const uint8_t *)common->augmentation + strlen(common->augmentation) + 1;
  // Both alignments, the register of the return address, the size of what follows.
  at = behind_leb128(behind_leb128(at));
  at = behind_leb128(common->version == 1 ? at + 1 : behind_leb128(at));
  for (; *letter; letter++) {
    if (*letter == 'R')
      return *at;
    if (*letter == 'P')
      at += 1 + size_of(*at);
    else if (*letter == 'L')
      at++;
  }
  return 0;
}

static uint64_t code_size(const struct entry *entry) {
  const char *common = (const char *)&entry->to_common - entry->to_common;
  unsigned size = size_of(code_encoding((const struct common *)common));
  uint64_t result = 0;
  memcpy(&result, entry->start_and_size + size, size);
  return result;
}

// In the place of libgcc's.
const struct entry *_Unwind_Find_FDE(void *code, struct dwarf_eh_bases *bases) {
  const struct table *table = find_table();
  if (!table)
    return NULL;
  int64_t wanted = (char *)code - (const char *)table;
  uint32_t low = 0, high = table->count;
  // Entries below `low` begin at the code or before it.
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (table->entries[middle].code <= wanted)
      low = middle + 1;
    else
      high = middle;
  }
  if (low == 0)
    return NULL;
  int64_t start = table->entries[low - 1].code;
  const struct entry *entry =
      (const struct entry *)((const char *)table + table->entries[low - 1].entry);
  if ((uint64_t)(wanted - start) >= code_size(entry))
    return NULL;
  *bases = (struct dwarf_eh_bases){.function = (char *)table + start};
  return entry;
}

static _Unwind_Reason_Code stop(struct _Unwind_Context *context, void *unused) {
  (void)context;
  (void)unused;
  return _URC_END_OF_STACK;
}

// libgcc fills a table of its own at the first use, without a lock: before there are threads.
__attribute__((constructor(101))) static void fill_tables(void) { _Unwind_Backtrace(stop, NULL); }
