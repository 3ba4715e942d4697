// An inline function that only NxP functions of its unit call needs no gate here: it is part of
// them, on both sides, and other units do not see it.
// RUN: %flickxx -O0 -c %s -o %t.o && llvm-nm-19 %t.o | FileCheck %s
// RUN: %dis %t.o | FileCheck %s --check-prefix=NXP && %links %t.o
#include <flick.h>

FLICK_NXP inline int helper(int x) { return x * 3; }
FLICK_NXP inline int seen(int x) { return x * 5; }
// CHECK-NOT: {{[WT]}} _Z6helperi
// CHECK-DAG: W __flick_twin__Z6helperi.flick.
// CHECK-DAG: t __flick_twin__Z4seeni
// CHECK-DAG: W _Z4seeni
// CHECK-DAG: T _Z4useri
// NXP-DAG: <__flick_nxp__Z6helperi.flick.{{[0-9a-f]*}}>:
// NXP-DAG: <__flick_nxp__Z4useri>:
FLICK_NXP int user(int x) { return helper(x) + seen(x); }
int host_user(int x) { return seen(x); }
