// NxP code calls host functions through pointers: own ones, and library functions.
// OUT: 41 -19 6
// OUT: MIXED CASE mixed case 3 10
#include <ctype.h>
#include <flick.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

FLICK_HOST static int twice(int x) { return 2 * x; }
FLICK_HOST static int negate(int x) { return -x; }
FLICK_HOST static double scale(double x, int k) { return x * k; }

FLICK_NXP static int apply(int (*f)(int), int x) { return f(x) + 1; }
FLICK_NXP static void map(char *s, int (*f)(int)) {
  for (; *s; s++)
    *s = (char)f(*s);
}
FLICK_NXP static double mixed(double (*f)(double, int), double x, int k) { return f(x, k) - k; }
FLICK_NXP static size_t measure(size_t (*f)(const char *), const char *s) { return f(s); }

int main(void) {
  char text[] = "Mixed Case";
  printf("%d %d %d\n", apply(twice, 20), apply(negate, 20), apply(abs, -5));
  map(text, toupper);
  printf("%s ", text);
  map(text, tolower);
  printf("%s %g %zu\n", text, mixed(scale, 1.5, 6), measure(strlen, text));
}
