// One source compiled twice with different macros, all of its functions static: a constructor
// registers what it computes.
// STEP: cc -c -DFACTOR=2 part.c -o two.o
// STEP: cc -c -DFACTOR=3 part.c -o three.o
// STEP: link main.c two.o three.o
// OUT: 50
#include <stdio.h>

int total;

int main(void) {
  printf("%d\n", total);
  return 0;
}
