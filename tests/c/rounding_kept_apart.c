// Operations that are equal but for the rounding mode in force, which calls between them set, are
// not one: in code that -frounding-math says it of. gcc takes them for one, so only the values that
// C asks for count.
// OUT: down 0x1.fffffffffffffp+62 0x1.5555555555555p-2
// OUT: up 0x1p+63 0x1.5555555555556p-2
// OUT: zero 0x1.fffffffffffffp+62 0x1.5555555555555p-2
// OUT: nearest 0x1p+63 0x1.5555555555555p-2
// CFLAGS: -frounding-math
// LIBS: -lm
// SKIP-VALGRIND: valgrind 3.19 does not round upwards
// ONLY: flick
#include <fenv.h>
#include <flick.h>
#include <stdio.h>

FLICK_NXP static double converted(void) {
  unsigned long x = 0x7fffffffffffffff;
  return x;
}
FLICK_NXP static double divided(double by) { return 1 / by; }

FLICK_NXP __attribute__((noinline)) static void all_modes(double (*out)[2], double by) {
  fesetround(FE_DOWNWARD);
  out[0][0] = converted();
  out[0][1] = divided(by);
  fesetround(FE_UPWARD);
  out[1][0] = converted();
  out[1][1] = divided(by);
  fesetround(FE_TOWARDZERO);
  out[2][0] = converted();
  out[2][1] = divided(by);
  fesetround(FE_TONEAREST);
  out[3][0] = converted();
  out[3][1] = divided(by);
}

int main(void) {
  static const char *const names[] = {"down", "up", "zero", "nearest"};
  double out[4][2];
  all_modes(out, 3);
  for (int i = 0; i < 4; i++)
    printf("%s %a %a\n", names[i], out[i][0], out[i][1]);
}
