// Records of the registers that functions get arguments in, give results back in and hand over: address; then
// arguments, results, arguments of calls (bit n: a(n), bit 8 + n: fa(n)), flags.
// RUN: %flick -O2 -c %s -o %t.o && %nxp %t.o %t.nxp && { llvm-objdump-19 -r %t.nxp; llvm-objdump-19 -s -j .flick.arity %t.nxp; } | FileCheck %s
// RUN: %flick -O0 -c %s -o %t.o && %nxp %t.o %t.nxp && %links %t.o
#include "flick.h"

// CHECK: RELOCATION RECORDS FOR [.flick.arity]:
// CHECK-DAG: [[#%x,]] R_RISCV_64 __flick_nxp_two
// CHECK-DAG: [[#%x,]] R_RISCV_64 __flick_nxp_floats
// CHECK-DAG: [[#%x,]] R_RISCV_64 __flick_nxp_through

// In the order of the definitions, each behind eight zeroes.
// CHECK: Contents of section .flick.arity:
// Two integers, one result, no calls.
// CHECK-NEXT: 0000 00000000 00000000 03000100 00000000
FLICK_NXP long two(long a, long b) { return a + b; }

// A double each way, an integer, and a call by pointer with three arguments.
// CHECK-NEXT: 0010 00000000 00000000 03010001 07000000
FLICK_NXP double floats(double x, long n, void (*f)(long, long, long)) {
  f(n, n, n);
  return x;
}

// An index beside the host's function, by its name: one argument, which is not known to be all that it reads.
// CHECK-NEXT: 0020 00000000 00000000 01000000 01000000
FLICK_HOST void host(long n);
FLICK_NXP void through(long n) { host(n + 1); }

// A result in memory is one argument more: no record. Neither are variadic ones without their list.
// CHECK-NOT: 0030
