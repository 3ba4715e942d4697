// A host variadic function hands its va_list to NxP functions: one passes it on to vprintf, one
// reads it with va_arg, one copies it with va_copy. Expects the host's layout on both sides.
// OUT: 1 two 3.5 4 5.25 6 7 8
// OUT: 23
// OUT: 21077.5
// OUT: -1001
#include <flick.h>
#include <stdarg.h>
#include <stdio.h>

FLICK_NXP static int forward(const char *format, va_list ap) { return vprintf(format, ap); }

FLICK_NXP static double read_twice(int n, va_list ap) {
  va_list again;
  va_copy(again, ap);
  double sum = 0;
  for (int i = 0; i < n; i++)
    sum += va_arg(ap, int) * va_arg(ap, double);
  for (int i = 0; i < n; i++)
    sum += va_arg(again, int) * 1000 - va_arg(again, double);
  va_end(again);
  return sum;
}

static int print(const char *format, ...) {
  va_list ap;
  va_start(ap, format);
  int n = forward(format, ap);
  va_end(ap);
  return n;
}

static double add(int n, ...) {
  va_list ap;
  va_start(ap, n);
  double sum = read_twice(n, ap);
  va_end(ap);
  return sum;
}

int main(void) {
  int n = print("%d %s %g %ld %g %d %d %d\n", 1, "two", 3.5, 4L, 5.25, 6, 7, 8);
  printf("%d\n", n);
  printf("%g\n", add(6, 1, 1.5, 2, 2.5, 3, 3.5, 4, 4.5, 5, 5.5, 6, 6.5));
  printf("%g\n", add(1, -1, 0.5));
}
