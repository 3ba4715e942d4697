// Landing pads are NxP code: cleanups, handlers, throws. Their tables lead to the host's types and
// personality routine through words that are constants.
// RUN: %flickxx -O0 -c %s -o %t.o && %dis %t.o | FileCheck %s
// RUN: %links -o %t.so %t.o && llvm-readelf-19 -SW %t.so | FileCheck %s --check-prefix=SECTIONS
// RUN: %flickxx -O2 -c %s -o %t.o && %dis %t.o | FileCheck %s && %links %t.o
// RUN: %flickxx -O2 -fno-exceptions -DNONE -c %s -o %t.o
// RUN: %dis %t.o | FileCheck %s --check-prefix=NONE
// SECTIONS: .gcc_except_table
// SECTIONS: .data.rel.ro
// SECTIONS-NOT: {{ \.data }}
#include <flick.h>

int host(int);
struct Guard {
  int *p;
  Guard(int *p);
  ~Guard();
};

// NONE-NOT: __gxx_personality
// NONE-NOT: _Unwind_Resume
// CHECK-LABEL: <__flick_nxp__Z5cleani>:
// CHECK: __flick_call__ZN5GuardC1EPi
// CHECK: __flick_call__Z4hosti
// CHECK: __flick_call__ZN5GuardD1Ev
// CHECK: __flick_call__ZN5GuardD1Ev
// CHECK: _Unwind_Resume
// NONE-LABEL: <__flick_nxp__Z5cleani>:
// NONE: __flick_call__ZN5GuardD1Ev
// NONE-NOT: __flick_call__ZN5GuardD1Ev
FLICK_NXP int clean(int x) {
  Guard g(&x);
  return host(x);
}
#ifndef NONE
// CHECK-LABEL: <__flick_nxp__Z5quieti>:
// CHECK: __clang_call_terminate
FLICK_NXP int quiet(int x) noexcept { return host(x) + 1; }
// CHECK-LABEL: <__flick_nxp__Z7throweri>:
// CHECK: __flick_call___cxa_allocate_exception
// CHECK: __flick_call___cxa_throw
FLICK_NXP int thrower(int x) {
  if (x)
    throw x;
  return x;
}
// CHECK-LABEL: <__flick_nxp__Z7catcheri>:
// CHECK: __flick_call___cxa_begin_catch
FLICK_NXP int catcher(int x) {
  try {
    return host(x);
  } catch (int n) {
    return n;
  }
}
// A call that may unwind and needs a signature.
// CHECK-LABEL: <__flick_nxp__Z4manyi>:
// CHECK: __flick_stub_0
// CHECK: __flick_call__ZN5GuardD1Ev
int nine(int, int, int, int, int, int, int, int, int);
FLICK_NXP int many(int x) {
  Guard g(&x);
  return nine(x, x, x, x, x, x, x, x, x);
}
#endif
