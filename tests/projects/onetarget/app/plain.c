#include "kernel.h"
#include <flick.h>

FLICK_NXP int plain_marked(int x) { return x + 1; }
const char *plain_compiler(void) {
#ifdef __clang__
  return "clang";
#else
  return "gcc";
#endif
}
