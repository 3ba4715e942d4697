// Library functions that the code generator would call by itself go the ordinary way, so that float results
// are boxed; what RV64 has instructions for stays inline.
// RUN: %flick -O2 -fno-math-errno -c %s -o %t.o && %dis %t.o | FileCheck %s
// RUN: %links %t.o
// RUN: %flick -O2 -ffast-math -c %s -o %t.o && %links %t.o
// RUN: %flick -O2 -frounding-math -ffp-exception-behavior=strict -c %s -o %t.o && %links %t.o
#include <flick.h>
#include <math.h>

// CHECK-LABEL: <__flick_nxp_single>:
// CHECK: R_RISCV_GOT_HI20 sinf
// CHECK: R_RISCV_CALL_PLT __flick_stub_
FLICK_NXP float single(float x) { return sinf(x) + 1; }
// CHECK-LABEL: <__flick_nxp_twofold>:
// CHECK: R_RISCV_CALL_PLT __flick_call_cos
FLICK_NXP double twofold(double x) { return cos(x) + 1; }
// CHECK-LABEL: <__flick_nxp_remainders>:
// CHECK-DAG: R_RISCV_GOT_HI20 fmodf
// CHECK-DAG: R_RISCV_CALL_PLT __flick_stub_
// CHECK-DAG: R_RISCV_CALL_PLT __flick_call_fmod
FLICK_NXP double remainders(double x, float y) { return fmod(x, 3) + fmodf(y, 3); }
// CHECK-LABEL: <__flick_nxp_inplace>:
// CHECK-NOT: R_RISCV_CALL_PLT
// CHECK: fsqrt.d
// CHECK-NOT: R_RISCV_CALL_PLT
// CHECK-LABEL: <__flick_nxp_power>:
FLICK_NXP double inplace(double x, float y) {
  return sqrt(x) + floor(x) + ceilf(y) + trunc(x) + round(x) + rint(x) + fabs(x) + fmax(x, y) + lrint(x) + copysign(x, y);
}
// CHECK: R_RISCV_CALL_PLT __powisf2
FLICK_NXP float power(float x, int n) { return __builtin_powif(x, n); }
FLICK_NXP float parts(float x, int *e) { return __builtin_frexpf(x, e) + __builtin_ldexpf(x, 2); }
