// Variadic NxP functions hand their va_list on: to vsnprintf and vprintf on the host, to NxP and
// host functions that read a part of it, to another variadic function's caller, and as a copy.
// OUT: [ 42] 2.50 text
// OUT: 21 21 21
// OUT: 1 2.5 3 | 4 5.5 6
// OUT: 1 2.5 3 | 4 5.5 6
// OUT: 120
#include <flick.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

FLICK_NXP int format(char *out, size_t size, const char *text, ...) {
  va_list ap;
  va_start(ap, text);
  int n = vsnprintf(out, size, text, ap);
  va_end(ap);
  return n;
}

FLICK_HOST static int add_host(int n, va_list ap) {
  int sum = 0;
  while (n-- > 0)
    sum += va_arg(ap, int);
  return sum;
}
FLICK_NXP static int add_nxp(int n, va_list ap) {
  int sum = 0;
  while (n-- > 0)
    sum += va_arg(ap, int);
  return sum;
}
FLICK_NXP static void sums(int n, ...) {
  va_list a, b;
  va_start(a, n);
  va_copy(b, a);
  int first = add_host(n, a), second = add_nxp(n, b);
  va_end(a);
  va_end(b);
  va_start(a, n);
  printf("%d %d %d\n", first, second, add_nxp(n, a));
  va_end(a);
}

/* Each reads three from the one list. */
FLICK_HOST static void three_host(va_list *ap) {
  int i = va_arg(*ap, int);
  double d = va_arg(*ap, double);
  printf("%d %g %ld", i, d, va_arg(*ap, long));
}
FLICK_NXP static void three_nxp(va_list *ap) {
  int i = va_arg(*ap, int);
  double d = va_arg(*ap, double);
  printf("%d %g %ld", i, d, va_arg(*ap, long));
}
FLICK_NXP static void in_turn(int host_first, ...) {
  va_list ap;
  va_start(ap, host_first);
  (host_first ? three_host : three_nxp)(&ap);
  printf(" | ");
  (host_first ? three_nxp : three_host)(&ap);
  puts("");
  va_end(ap);
}

/* Recursion through the dots, by name, by pointer and by way of the host. */
FLICK_NXP static long product(int n, ...);
FLICK_HOST static long product_host(int n, long so_far) { return product(n, so_far); }
FLICK_NXP static long product(int n, ...) {
  long (*volatile pointer)(int, ...) = product;
  va_list ap;
  va_start(ap, n);
  long so_far = va_arg(ap, long);
  va_end(ap);
  if (n == 0)
    return so_far;
  return n % 3 == 0   ? product(n - 1, so_far * n)
         : n % 3 == 1 ? pointer(n - 1, so_far * n)
                      : product_host(n - 1, so_far * n);
}

int main(void) {
  char out[40];
  format(out, sizeof out, "[%*d] %.2f %s", 3, 42, 2.5, "text");
  puts(out);
  sums(6, 1, 2, 3, 4, 5, 6);
  in_turn(1, 1, 2.5, 3L, 4, 5.5, 6L);
  in_turn(0, 1, 2.5, 3L, 4, 5.5, 6L);
  printf("%ld\n", product(5, 1L));
}
