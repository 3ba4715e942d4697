// Calls through types that differ from the function's in the dots alone, as old code has them:
// natively each finds its arguments. From either side, to functions of either side and of the C
// library, in the unit and through pointers.
// CROSSINGS: host-to-nxp>=5 nxp-to-host>=5
#include <flick.h>
#include <stdarg.h>
#include <stdio.h>

typedef int (*Dots)(const char *, ...);
// gcc makes a trap of a call that casts a function's name.
#ifdef __clang__
#define NAMED(function) ((Dots)(function))
#else
static Dots as_it_is(Dots function) { return function; }
#define NAMED(function) as_it_is((Dots)(function))
#endif
// No floating ones: a call without dots does not tell in al whether there are any.
typedef int (*Fixed)(const char *, int, int, int, int, int, int, int, int);

FLICK_NXP int fixed_nxp(const char *name, int a, double b, int c, int d, int e, int f, int g,
                        double h) {
  return printf("%s %d %g %d %d %d %d %d %g\n", name, a, b, c, d, e, f, g, h);
}

FLICK_HOST int fixed_host(const char *name, int a, double b, int c, int d, int e, int f, int g,
                          double h) {
  return printf("%s %d %g %d %d %d %d %d %g\n", name, a, b, c, d, e, f, g, h);
}

FLICK_NXP int dots_nxp(const char *format, ...) {
  va_list list;
  va_start(list, format);
  int count = vprintf(format, list);
  va_end(list);
  return count;
}

FLICK_HOST int dots_host(const char *format, ...) {
  va_list list;
  va_start(list, format);
  int count = vprintf(format, list);
  va_end(list);
  return count;
}

Dots volatile with_dots[2];
Fixed volatile without[3];

FLICK_NXP int calls_nxp(void) {
  int count = 0;
  for (int i = 0; i < 2; i++)
    count += with_dots[i]("NxP, pointer", 1, 2.5, 3, 4, 5, 6, 7, 8.5);
  for (int i = 0; i < 3; i++)
    count += without[i]("NxP, pointer %d %d %d %d %d %d %d %d\n", 1, 2, 3, 4, 5, 6, 7, 8);
  count += NAMED(fixed_nxp)("NxP, named", 1, 2.5, 3, 4, 5, 6, 7, 8.5);
  count += NAMED(fixed_host)("NxP, named", 1, 2.5, 3, 4, 5, 6, 7, 8.5);
  return count;
}

FLICK_HOST int calls_host(void) {
  int count = 0;
  for (int i = 0; i < 2; i++)
    count += with_dots[i]("host, pointer", 1, 2.5, 3, 4, 5, 6, 7, 8.5);
  for (int i = 0; i < 3; i++)
    count += without[i]("host, pointer %d %d %d %d %d %d %d %d\n", 1, 2, 3, 4, 5, 6, 7, 8);
  count += NAMED(fixed_nxp)("host, named", 1, 2.5, 3, 4, 5, 6, 7, 8.5);
  count += NAMED(fixed_host)("host, named", 1, 2.5, 3, 4, 5, 6, 7, 8.5);
  return count;
}

int main(void) {
  with_dots[0] = (Dots)fixed_nxp;
  with_dots[1] = (Dots)fixed_host;
  without[0] = (Fixed)dots_nxp;
  without[1] = (Fixed)dots_host;
  without[2] = (Fixed)printf;
  printf("%d\n", calls_nxp());
  printf("%d\n", calls_host());
}
