// va_list has the host's layout: va_arg reads it, va_copy copies its 24 bytes, va_end does nothing.
// RUN: %flick -O1 -c %s -o %t.o && %dis %t.o | FileCheck %s && %links %t.o
// RUN: %flick -O0 -c %s -o %t.o && %links %t.o
#include <flick.h>
#include <stdarg.h>

int take(va_list *);

// CHECK-LABEL: <__flick_nxp_sum>:
// CHECK-COUNT-3: sd {{.*}}(sp)
// CHECK: __flick_call_take
FLICK_NXP int sum(int n, va_list list) {
  va_list copy;
  va_copy(copy, list);
  int x = take(&copy);
  while (n-- > 0)
    x += va_arg(copy, int) + (int)va_arg(copy, double);
  va_end(copy);
  return x;
}
