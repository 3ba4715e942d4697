// The instruction set of NxP code: the default, one without extensions, one with more.
// RUN: %flick -O2 -c %s -o %t.o && %dis %t.o | FileCheck %s
// RUN: %flick -O2 -mllvm -flick-nxp-march=rv64imafd -c %s -o %t.o && %dis %t.o | FileCheck %s --check-prefix=LESS
// RUN: %nxp %t.o %t.n && llvm-readelf-19 -hA %t.n | FileCheck %s --check-prefix=HEADER
// RUN: %flick -O2 -mllvm -flick-nxp-march=rv64imafdc_zicond_zicsr_zifencei_zba -c %s -o %t.o && %dis %t.o | FileCheck %s --check-prefix=MORE
// RUN: %flick -O2 -mllvm -flick-nxp-march=rv64imafdcv_zicsr_zifencei -c %s -o %t.o && %dis %t.o | FileCheck %s --check-prefix=VECTOR
// RUN: not %flick -mllvm -flick-nxp-march=rv64gc_zoo -c %s -o %t.o 2>%t.err; FileCheck %s --check-prefix=NONE <%t.err
// HEADER: Flags: 0x4, double-float ABI
// HEADER: Value: rv64i2p1_m2p0_a2p1_f2p2_d2p2_zicsr2p0_zmmul1p0{{$}}
// NONE: [FLK0104] -Xnxp=-march=rv64gc_zoo:
#include <flick.h>

// Zba.
// CHECK-LABEL: <__flick_nxp_element>:
// CHECK: sh3add
// LESS-LABEL: <__flick_nxp_element>:
// LESS: slli
// LESS-NEXT: add
// LESS-NEXT: ld
// MORE-LABEL: <__flick_nxp_element>:
// MORE: sh3add
FLICK_NXP long element(const long *array, long at) { return array[at]; }

// Zbb: no call of libnxp.
// CHECK-LABEL: <__flick_nxp_zeros>:
// CHECK-NEXT: clz
// CHECK-NEXT: ret
// LESS-LABEL: <__flick_nxp_zeros>:
// LESS-NOT: clz
FLICK_NXP int zeros(unsigned long x) { return __builtin_clzl(x); }

// Zbs.
// CHECK-LABEL: <__flick_nxp_bit>:
// CHECK-NEXT: bset
FLICK_NXP long bit(long x, long n) { return x | 1L << n; }

// Zicond.
// CHECK-LABEL: <__flick_nxp_choice>:
// CHECK-NOT: czero
// LESS-LABEL: <__flick_nxp_choice>:
// LESS-NOT: czero
// MORE-LABEL: <__flick_nxp_choice>:
// MORE: czero
// MORE: czero
FLICK_NXP long choice(long condition, long x, long y) { return condition ? x : y; }

// Multiplication and addition are two roundings, whatever the instruction set.
// CHECK-LABEL: <__flick_nxp_sum>:
// CHECK-NEXT: fmul.d
// CHECK-NEXT: fadd.d
FLICK_NXP double sum(double x, double y, double z) { return x * y + z; }

// Vectors, with a frame pointer: unwinders do not know frames by vlenb.
// CHECK-LABEL: <__flick_nxp_scale>:
// CHECK-NOT: vset
// CHECK: ret
// VECTOR-LABEL: <__flick_nxp_scale>:
// VECTOR: addi{{[[:space:]]+}}s0, sp
// VECTOR: vsetvli
// VECTOR: vfmul.vf
FLICK_NXP void scale(float *x, float by, long n) {
  for (long i = 0; i < n; i++)
    x[i] *= by;
}
