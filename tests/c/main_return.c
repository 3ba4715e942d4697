// The status that an NxP function computes becomes the exit status; output from NxP code that is
// still buffered appears.
// OUT: buffered
// EXIT: 42
#include <flick.h>
#include <stdio.h>

FLICK_NXP static int status(int n) {
  fputs("buffered\n", stdout);
  return n * 21;
}

int main(void) { return status(2); }
