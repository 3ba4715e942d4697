/* The ELF note that says of which version a file is (crates/abi, `Note`). */
#include "../pass/flick_abi.h"

__attribute__((section(FLICK_SEC_NOTE), used, aligned(4))) static const struct {
  unsigned name_size, description_size, kind;
  char name[8];
  unsigned version;
} note = {sizeof "Flick", sizeof(unsigned), 1, "Flick", FLICK_ABI_VERSION};
