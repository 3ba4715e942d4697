// A write through NULL in NxP code without a handler: killed by SIGSEGV, what was flushed is there,
// and a report names the function.
// OUT: before
// EXIT: signal SEGV
// ERR: FLK0501
// ERR: poke
// SKIP-VALGRIND: memcheck reports the bad access that is the subject
#include <flick.h>
#include <stdio.h>

FLICK_NXP static void poke(volatile int *p) {
  printf("before\n");
  fflush(stdout);
  *p = 1;
  printf("after\n");
}

int main(void) {
  poke(NULL);
  return 3;
}
