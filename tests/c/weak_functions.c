// Weak NxP functions, a weak undefined function tested for NULL on both sides, and a weak variable.
// OUT: 15 7 8 1
#include <flick.h>
#include <stdio.h>

__attribute__((weak)) FLICK_NXP int weak_nxp(int x) { return x + 5; }
__attribute__((weak)) int weak_variable = 9;
extern int missing(int) __attribute__((weak));
extern int missing_variable __attribute__((weak));

FLICK_NXP static int test(int x) {
  int r = weak_nxp(x) + weak_variable;
  if (missing)
    r += missing(x) * 1000;
  if (&missing_variable)
    r += missing_variable;
  return r;
}

int main(void) {
  int (*volatile f)(int) = weak_nxp;
  printf("%d %d %d %d\n", test(1), weak_nxp(2), f(3), missing == NULL);
}
