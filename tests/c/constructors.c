// Constructors and destructors on both sides, with priorities, around an NxP call from main.
// Expects the order of plain C, and that they may cross.
// OUT: constructor 101 nxp
// OUT: constructor 200 host calls 6
// OUT: constructor nxp
// OUT: main 5
// OUT: destructor nxp
// OUT: destructor 200 host calls 8
// OUT: destructor 101 nxp
#include <flick.h>
#include <stdio.h>

static int state = 3;

FLICK_NXP static int twice(int x) { return 2 * x; }

__attribute__((constructor(101))) FLICK_NXP static void early(void) { puts("constructor 101 nxp"); }
__attribute__((constructor(200))) FLICK_HOST static void middle(void) {
  printf("constructor 200 host calls %d\n", twice(state));
}
__attribute__((constructor)) FLICK_NXP static void late(void) {
  puts("constructor nxp");
  state = 4;
}
__attribute__((destructor)) FLICK_NXP static void first(void) { puts("destructor nxp"); }
__attribute__((destructor(200))) FLICK_HOST static void second(void) {
  printf("destructor 200 host calls %d\n", twice(state));
}
__attribute__((destructor(101))) FLICK_NXP static void last(void) { puts("destructor 101 nxp"); }

int main(void) { printf("main %d\n", twice(state) - 3); }
