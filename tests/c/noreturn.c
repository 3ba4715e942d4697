// Functions that do not return, on both sides: the caller's code after the call is not there.
// OUT: fatal 3
// EXIT: 3
#include <flick.h>
#include <stdio.h>
#include <stdlib.h>

_Noreturn FLICK_NXP static void fatal(int code) {
  printf("fatal %d\n", code);
  exit(code);
}
_Noreturn FLICK_HOST static void host_fatal(int code) { fatal(code + 1); }
FLICK_NXP static int check(int x) {
  if (x < 10)
    return x + 1;
  host_fatal(x - 8);
}

int main(void) {
  int x = 0;
  for (;;)
    x = check(x);
}
