// Cleanups of C under -fexceptions run on the ordinary way and in a landing pad.
// RUN: %flick -O0 -fexceptions -c %s -o %t.o && %dis %t.o | FileCheck %s && %links %t.o
// RUN: %flick -O2 -fexceptions -c %s -o %t.o && %dis %t.o | FileCheck %s && %links %t.o
#include <flick.h>

int ext(int);
void clean(int *p) { ext(*p); }
// CHECK-LABEL: <__flick_nxp_cleanup>:
// CHECK: __flick_call_ext
// CHECK: __flick_call_clean
// CHECK: __flick_call_clean
// CHECK: _Unwind_Resume
FLICK_NXP int cleanup(void) {
  __attribute__((cleanup(clean))) int x = 1;
  return ext(x);
}
