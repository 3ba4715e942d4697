#include "arity.h"
#include <stdarg.h>

#pragma GCC diagnostic ignored "-Wpragmas"
#pragma GCC diagnostic ignored "-Wunknown-warning-option"
#pragma GCC diagnostic ignored "-Wstrict-prototypes"
#pragma GCC diagnostic ignored "-Wdeprecated-non-prototype"

FLICK_HOST long opaque(long value) { return *(volatile long *)&value; }

FLICK_NXP long defined_behind();
FLICK_NXP long call_unprototyped(long value) { return defined_behind(value, 2.5, value + 1) + 1; }
FLICK_NXP __attribute__((noinline)) long defined_behind(long a, double b, long c) {
  return (long)(a * b) + c;
}

FLICK_NXP long replaced(long a, long b, long c) { return a + b * c; }

FLICK_NXP long sum(const char *kinds, ...) {
  va_list list;
  va_start(list, kinds);
  double total = 0;
  for (; *kinds; kinds++)
    total += *kinds == 'i' ? va_arg(list, int) : va_arg(list, double);
  va_end(list);
  return (long)total;
}
