// One address for each function and variable of a program and of three libraries (one with
// -fno-plt, one by a plain compiler), taken in all of them on both sides, and given by dlsym.
// SKIP-MODE: static a static program has no shared library
// STEP: host-cc -shared -fPIC other.c -o libother.so
// STEP: cc -shared library.c -L. -lother -Wl,-rpath,$ORIGIN -o liblibrary.so
// STEP: cc -shared -fno-plt fast.c -L. -llibrary -lother -Wl,-rpath,$ORIGIN -o libfast.so
// STEP: link main.c -L. -lfast -llibrary -lother -ldl -Wl,-rpath,$ORIGIN -rdynamic
// OUT: 11 of 11 are one
// OUT: 6 of 6 are what dlsym finds
// OUT: 6 of 6 are what dlsym finds
// OUT: 9 10 7 6 7 8
#define _GNU_SOURCE
#include "modules.h"
#include <dlfcn.h>
#include <string.h>

int program_data = 5;
FLICK_NXP int program_nxp(int x) { return x + program_data; }
FLICK_HOST int program_host(int x) { return x + 1 + program_data; }

TAKE(FLICK_HOST static, take_host)
TAKE(FLICK_NXP static, take_nxp)

static const char *const names[] = {"program_nxp",  "program_host",  "library_nxp",
                                    "library_both", "library_alias", "other_function"};

#define FOUND(mark, name)                                                                          \
  mark static int name(void) {                                                                     \
    int same = 0;                                                                                  \
    for (int i = 0; i < 6; i++) {                                                                  \
      void *found = dlsym(RTLD_DEFAULT, names[i]);                                                 \
      any mine = take_nxp(i);                                                                      \
      same += !memcmp(&found, &mine, sizeof mine);                                                 \
    }                                                                                              \
    return same;                                                                                   \
  }
FOUND(FLICK_HOST, found_host)
FOUND(FLICK_NXP, found_nxp)

FLICK_NXP static int call(int which, int x) { return ((int (*)(int))take_nxp(which))(x); }

int main(void) {
  any (*const takers[])(int) = {take_nxp,       library_take_host, library_take_nxp,
                                fast_take_host, fast_take_nxp,     other_take};
  int same = 0;
  for (int i = 0; i < THINGS; i++) {
    int all = 1;
    for (int t = 0; t < 6; t++)
      all &= takers[t](i) == take_host(i);
    same += all;
    if (!all)
      for (int t = 0; t < 6; t++)
        fprintf(stderr, "%d by %d: %p, not %p\n", i, t, (void *)takers[t](i), (void *)take_host(i));
  }
  printf("%d of %d are one\n", same, THINGS);
  printf("%d of 6 are what dlsym finds\n", found_host());
  printf("%d of 6 are what dlsym finds\n", found_nxp());
  for (int i = 0; i < 6; i++)
    printf("%d%c", call(i, 4), i < 5 ? ' ' : '\n');
}
