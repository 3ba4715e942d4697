// A write through a bad pointer: the native signal, and a report with the place and registers.
// FAILS: run FLK0501
// EXIT: signal SEGV
// OUT: before
// SAYS: SIGSEGV
// SAYS: access to 0x10
// SAYS: poke+0x
// SAYS: a1
// SAYS: flick explain FLK0501
#include <flick.h>
#include <stdio.h>

__attribute__((noinline)) FLICK_NXP void poke(int *where, int what) { *where = what; /* HERE */ }

int main(void) {
  puts("before");
  fflush(stdout);
  poke((int *)16, 7);
  puts("after");
  return 0;
}
