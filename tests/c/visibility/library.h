#include <flick.h>

#define PUBLIC __attribute__((visibility("default")))
#define PROTECTED __attribute__((visibility("protected")))
#define INTERNAL __attribute__((visibility("internal")))

/* Compiled with -fvisibility=hidden. */
FLICK_NXP int helper(int x) { return x + OFFSET; }
int counter = OFFSET;
FLICK_NXP INTERNAL int inner(int x) { return helper(x) * 2; }
FLICK_NXP PROTECTED int NAME(_protected)(int x) { return inner(x) + counter++; }
PUBLIC int NAME(_host)(int x) { return helper(x) - inner(x); }
FLICK_NXP PUBLIC int NAME(_public)(int x) { return NAME(_protected)(x) + NAME(_host)(x); }
typedef int function(int);
FLICK_NXP PUBLIC function *NAME(_address)(int which) {
  return which == 0 ? NAME(_protected) : which == 1 ? NAME(_public) : helper;
}
