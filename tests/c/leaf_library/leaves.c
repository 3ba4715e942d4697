#include <flick.h>

int *is_closed;
static long loaded[2] = {1, 2};

FLICK_NXP __attribute__((noinline)) long element(const long *from, long n) { return from[n]; }

__attribute__((constructor)) FLICK_HOST static void load(void) { loaded[0] = element(loaded, 1); }
__attribute__((destructor)) FLICK_HOST static void unload(void) {
  *is_closed = element(loaded, 0) == 2;
}
