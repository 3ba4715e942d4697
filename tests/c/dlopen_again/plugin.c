#include <flick.h>
#include <stdlib.h>

FLICK_NXP_DATA static int table[3000];
static int constructed;
__attribute__((constructor)) FLICK_NXP static void construct(void) { constructed = 1; }
FLICK_NXP int twice(int x) {
  int *p = malloc(sizeof *p);
  *p = x + constructed;
  int y = *p + (table[x % 3000] = constructed);
  free(p);
  return y + x - 2;
}
