// Floating-point exception flags: raised by NxP arithmetic and seen by the host, raised by the host
// and seen and cleared by NxP code.
// OUT: divbyzero .
// OUT: invalid .
// OUT: overflow inexact .
// OUT: underflow inexact .
// OUT: inexact .
// OUT: .
// OUT: 1
// OUT: invalid .
// OUT: invalid inexact .
// LIBS: -lm
// SKIP-VALGRIND: valgrind 3.19 does not keep the inexact flag
#include <fenv.h>
#include <flick.h>
#include <stdio.h>

static volatile double zero = 0, one = 1, three = 3, huge = 1e308, tiny = 1e-308, sink;

FLICK_NXP static void raise_nxp(int which) {
  switch (which) {
  case 0:
    sink = one / zero;
    break;
  case 1:
    sink = zero / zero;
    break;
  case 2:
    sink = huge * huge;
    break;
  case 3:
    sink = tiny * tiny;
    break;
  case 4:
    sink = one / three;
    break;
  case 5:
    sink = one + one;
    break;
  }
}
FLICK_NXP static int test_and_clear(int mask) {
  int set = fetestexcept(mask);
  feclearexcept(set);
  return set;
}

static void show(void) {
  int f = fetestexcept(FE_ALL_EXCEPT);
  printf("%s%s%s%s%s.\n", f & FE_DIVBYZERO ? "divbyzero " : "", f & FE_INVALID ? "invalid " : "",
         f & FE_OVERFLOW ? "overflow " : "", f & FE_UNDERFLOW ? "underflow " : "",
         f & FE_INEXACT ? "inexact " : "");
}

int main(void) {
  for (int i = 0; i < 6; i++) {
    feclearexcept(FE_ALL_EXCEPT);
    raise_nxp(i);
    show();
  }
  feclearexcept(FE_ALL_EXCEPT);
  feraiseexcept(FE_INVALID);
  sink = one / zero;
  printf("%d\n", test_and_clear(FE_DIVBYZERO | FE_OVERFLOW) == FE_DIVBYZERO);
  show();
  raise_nxp(4);
  show();
}
