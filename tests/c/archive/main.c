// A static archive of which the program pulls only some members; two of the pulled ones hold placed
// functions, one is plain, one that is not pulled would not link.
// OUT: 244 7 122
// STEP: cc -c first.c -o first.o
// STEP: cc -c second.c -o second.o
// STEP: host-cc -c plain.c -o plain.o
// STEP: cc -c unused.c -o unused.o
// STEP: ar rcs libmembers.a first.o second.o plain.o unused.o
// STEP: link main.c libmembers.a
#include "members.h"
#include <flick.h>
#include <stdio.h>

FLICK_NXP static int run(void) { return first(20); }

int main(void) {
  int r = run();
  printf("%d %d %d\n", r, plain(6), second(9));
}
