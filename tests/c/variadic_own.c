// A variadic host function of the program's own, called by NxP code by name and through a pointer,
// with ints, longs, doubles, pointers, more than the registers hold. Expects va_arg to find all.
// OUT: 0
// OUT: -120259083774.5
// OUT: 4608.125
// OUT: -10695
// OUT: 5111808
#include <flick.h>
#include <stdarg.h>
#include <stdio.h>

FLICK_HOST static double collect(const char *kinds, double scale, ...) {
  va_list ap;
  va_start(ap, scale);
  double sum = 0;
  for (double weight = scale; *kinds; kinds++, weight *= 2) {
    switch (*kinds) {
    case 'i':
      sum += weight * va_arg(ap, int);
      break;
    case 'l':
      sum += weight * (double)va_arg(ap, long);
      break;
    case 'd':
      sum += weight * va_arg(ap, double);
      break;
    case 's':
      sum += weight * va_arg(ap, const char *)[0];
      break;
    }
  }
  va_end(ap);
  return sum;
}

FLICK_NXP static void call(int i, float f) {
  double (*volatile pointer)(const char *, double, ...) = collect;
  printf("%.17g\n", collect("", 1.0));
  printf("%.17g\n", collect("idls", 1.0, i, f, i * (1L << 32), "A"));
  printf("%.17g\n", pointer("dddddddddd", 0.5, f, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0));
  printf("%.17g\n", pointer("iiiiiiiiiii", 1.0, 1, -2, 3, -4, 5, -6, 7, -8, 9, -10, i));
  printf("%.17g\n", collect("idididididididididid", 1.0, 1, 1.5, 2, 2.5, 3, 3.5, 4, 4.5, 5, 5.5, 6,
                            6.5, 7, 7.5, 8, 8.5, 9, 9.5, 10, (double)f));
}

int main(void) { call(-7, 0.25f); }
