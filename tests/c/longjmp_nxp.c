// NxP code itself calls longjmp, over its own frames and over host frames between them, to a
// setjmp far below and to one in the middle.
// OUT: 28540
#include <flick.h>
#include <setjmp.h>
#include <stdio.h>

static jmp_buf outer, inner;
static int caught;

FLICK_NXP static void dive(int depth, int to_outer);
FLICK_HOST static void middle(int depth, int to_outer) {
  volatile int d = depth;
  if (depth == 5) {
    int v = setjmp(inner);
    if (v) {
      caught += v;
      return;
    }
  }
  dive(d - 1, to_outer);
}
FLICK_NXP static void dive(int depth, int to_outer) {
  if (depth == 0)
    longjmp(to_outer ? outer : inner, to_outer ? 1000 + to_outer : 7);
  if (depth % 2)
    middle(depth, to_outer);
  else
    dive(depth - 1, to_outer);
  caught += 100;
}

int main(void) {
  for (volatile int i = 0; i < 40; i++) {
    int v = setjmp(outer);
    if (v == 0)
      dive(8, i % 2 ? i : 0);
    else
      caught += v;
  }
  printf("%d\n", caught);
}
