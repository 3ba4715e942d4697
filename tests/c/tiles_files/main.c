// Functions of several files have tiles by marks and by a placement file. Code of one file calls
// those of the others by name, and a library's, which has tiles, too.
// CARD: card-two
// PLACE: tiles.place
// STEP: cc -shared -o liblibrary.so library.c
// STEP: link main.c other.c -L. -llibrary -Wl,-rpath,.
// OUT: 111 121 155 1000
// SKIP-MODE: static a static program has no shared library
// OUT: pointers 1 1 99
#include "tiles.h"
#include <stdio.h>

FLICK_NXP_ON("storage") long first(long x) { return second(x) + 1; }
long by_file(long x) { return second(x) + named(x) + 1; }
static long plain_helper(long x) { return second(x) * 2 + in_library(x); }
long by_pattern_one(long x) { return plain_helper(x) - x; }
FLICK_HOST long on_host(long x) { return x * 10; }

int main(void) {
  printf("%ld %ld %ld %ld\n", first(10), by_file(10), by_pattern_one(5), in_library(100));
  printf("pointers %d %d %ld\n", address_there() == second, is_named(named), call(named, 99));
  return 0;
}
