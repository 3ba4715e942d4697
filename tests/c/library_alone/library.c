#include "library.h"
#include <flick.h>
#include <stdlib.h>

FLICK_NXP int library_heap(void) {
  char *memory = malloc(100);
  int local = flick_is_nxp_memory(memory);
  free(memory);
  return local;
}
FLICK_NXP void *library_block(void) { return malloc(100); }
