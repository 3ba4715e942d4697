// A trap instruction in NxP code: SIGILL, as natively.
// FAILS: run FLK0501
// EXIT: signal ILL
// SAYS: SIGILL
// SAYS: stop+0x
#include <flick.h>

FLICK_NXP void stop(int x) {
  if (x)
    __builtin_trap(); /* HERE */
}

int main(void) {
  stop(1);
  return 0;
}
