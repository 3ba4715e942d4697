#include <flick.h>
#include <stdarg.h>
#include <stdio.h>

FLICK_NXP int mixed(int a, double b, const char *s, long c, double d) {
  return s ? printf("%d %g %s %ld %g\n", a, b, s, c, d) : a;
}

FLICK_NXP int knr(a, b, s, c, d)
int a;
double b;
const char *s;
long c;
float d;
{
  return s ? printf("%d %g %s %ld %g\n", a, b, s, c, (double)d) : a;
}

FLICK_NXP int add(int a, int b) { return a + b; }

FLICK_NXP double doubles(double a, double b, double c, double d, double e, double f) {
  return a + b + c + d + e + f;
}

FLICK_NXP int many(int a, int b, int c, int d, int e, int f, int g, int h) {
  return a + b + c + d + e + f + g + h;
}

FLICK_NXP int dotted(const char *format, ...) {
  va_list list;
  va_start(list, format);
  int count = vprintf(format, list);
  va_end(list);
  return count;
}
