// What RV64's convention does not carry as the crossing wants it: 16-byte vectors and 128-bit integers are
// two integers, two floats a double, half precision a float; a variadic function finds a va_list in t2.
// RUN: %flick -O2 -c %s -o %t.o && %dis %t.o | FileCheck %s && %links %t.o
// RUN: %flick -O0 -g -c %s -o %t.o && %links %t.o
#include <flick.h>
#include <stdarg.h>

typedef long two __attribute__((vector_size(16)));
struct point { float x, y; };
two get(two, struct point);
int out(va_list *);

// CHECK-LABEL: <__flick_nxp_swap>:
// CHECK-DAG: mv a0, a1
// CHECK: ret
FLICK_NXP two swap(two x) { return (two){x[1], x[0]}; }

// CHECK-LABEL: <__flick_nxp_second>:
// CHECK: fmv.x.d a0, fa0
// CHECK-NEXT: srli a0, a0, 0x20
// CHECK-NEXT: fmv.w.x fa0, a0
// CHECK-NEXT: ret
FLICK_NXP float second(struct point p) { return p.y; }

// The host's va_list is 24 bytes.
// CHECK-LABEL: <__flick_nxp_start>:
// CHECK-DAG: ld {{.*}}, 0x10(t2)
// CHECK-DAG: ld {{.*}}, 0x8(t2)
// CHECK-DAG: ld {{.*}}, 0x0(t2)
// CHECK: __flick_call_out
FLICK_NXP __attribute__((noinline)) int start(int n, ...) {
  va_list list;
  va_start(list, n);
  n = out(&list);
  va_end(list);
  return n;
}

// Within the unit the list is made by the caller: eight bytes of named arguments, no floating ones.
// CHECK-LABEL: <__flick_nxp_calls>:
// CHECK-DAG: li [[FP:[a-z0-9]+]], 0x3
// CHECK-DAG: slli [[FP]], [[FP]], 0x24
// CHECK: __flick_nxp_start
FLICK_NXP int calls(void) { return start(2, 5, 1.5); }
// CHECK-NOT: UNKNOWN
