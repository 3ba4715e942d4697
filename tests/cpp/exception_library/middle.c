#include <flick.h>

void c_cleanup(int *);

/* Compiled with -fexceptions: its cleanup runs. */
FLICK_NXP int in_c(int (*f)(int), int what) {
  __attribute__((cleanup(c_cleanup))) int mine = what;
  return f(what) + mine;
}
