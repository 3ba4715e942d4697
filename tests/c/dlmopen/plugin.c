#include <flick.h>
#include <stdlib.h>

static int *count;

FLICK_NXP int next(void) {
  if (!count)
    count = calloc(1, sizeof *count);
  return ++*count;
}

FLICK_NXP int work(int (*function)(int), int x) { return function(x) + x; }
