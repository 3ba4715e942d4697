// Weak aliases, and strong ones of weak definitions: the linker may separate the names, so no side
// may assume that they are one object, nor that they are two.
// OUT: variables 4 4
// OUT: addresses 1 1 1 1
// OUT: through phi 4
// OUT: calls 8 8 1
#include "flick.h"
#include <stdio.h>

int shared = 1;
extern int weak_name __attribute__((weak, alias("shared")));
__attribute__((weak)) int weak_variable = 1;
extern int strong_name __attribute__((alias("weak_variable")));
int table[4] = {1, 2, 3, 4};
extern int table_name[4] __attribute__((weak, alias("table")));
FLICK_NXP int on_nxp(int x) { return x * 2; }
int on_nxp_weak(int) __attribute__((weak, alias("on_nxp")));
FLICK_NXP __attribute__((weak)) int weak_on_nxp(int x) { return x * 2; }
int weak_on_nxp_strong(int) __attribute__((alias("weak_on_nxp")));

FLICK_NXP __attribute__((noinline)) static int through_weak(int a, int b) {
  shared = a;
  weak_name = b;
  return shared;
}
FLICK_NXP __attribute__((noinline)) static int through_strong(int a, int b) {
  weak_variable = a;
  strong_name = b;
  return weak_variable;
}
FLICK_NXP __attribute__((noinline)) static int through_phi(int a, int b) {
  table[2] = a;
  int *p = a & 1 ? &table_name[2] : &table[1];
  *p = b;
  return table[2];
}
FLICK_NXP static int equal_1(void) { return on_nxp == on_nxp_weak; }
FLICK_NXP static int equal_2(void) { return weak_on_nxp == weak_on_nxp_strong; }
FLICK_NXP static int call(int (*f)(int), int x) { return f(x) + (f == on_nxp_weak); }

int main(void) {
  printf("variables %d %d\n", through_weak(3, 4), through_strong(3, 4));
  printf("addresses %d %d %d %d\n", equal_1(), equal_2(), on_nxp == on_nxp_weak,
         weak_on_nxp == weak_on_nxp_strong);
  printf("through phi %d\n", through_phi(3, 4));
  printf("calls %d %d %d\n", on_nxp_weak(4), weak_on_nxp_strong(4), call(on_nxp, 0));
  return 0;
}
