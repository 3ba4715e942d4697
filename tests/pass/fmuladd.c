// Multiplications and additions fuse on the NxP exactly where they do on the host.
// RUN: %flick -O2 -c %s -o %t.o && %dis %t.o | FileCheck %s
// RUN: %flick -O2 -ffp-contract=fast -c %s -o %t.o && %dis %t.o | FileCheck %s
// RUN: %flick -O2 -mfma -c %s -o %t.o && %dis %t.o | FileCheck %s --check-prefix=FMA
// RUN: %flick -O2 -mfma -ffp-contract=off -c %s -o %t.o && %dis %t.o | FileCheck %s
// RUN: %flick -O2 -ffp-model=strict -c %s -o %t.o && %dis %t.o | FileCheck %s
#include <flick.h>

// CHECK-LABEL: <__flick_nxp_muladd>:
// CHECK-NOT: {{fn?m(add|sub)}}
// CHECK: fmul.d
// CHECK: fadd.d
// FMA-LABEL: <__flick_nxp_muladd>:
// FMA: fmadd.d
FLICK_NXP double muladd(double a, double b, double c) { return a * b + c; }
