// Two objects with placed functions joined by ld -r, then stripped of debug information, linked
// with the rest.
// STEP: cc -c one.c -o one.o
// STEP: cc -c two.c -o two.o
// STEP: ld -r one.o two.o -o joined.o
// STEP: strip --strip-debug joined.o
// STEP: link main.c joined.o
#include <flick.h>
#include <stdio.h>

int one(int);
int two(int);
FLICK_NXP static int three(int x) { return one(x) + two(x) * 10; }

int main(void) {
  int (*volatile f)(int) = two;
  printf("%d %d %d\n", three(4), one(5), f(6));
}
