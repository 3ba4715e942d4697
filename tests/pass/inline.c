// C99 and GNU inline definitions: copied when unplaced, left to the unit that defines them when placed.
// RUN: %flick -O2 -c %s -o %t.o && %dis %t.o | FileCheck %s
// RUN: llvm-nm-19 %t.o | FileCheck %s --check-prefix=HOST
// RUN: %links %t.o
// RUN: %flick -O0 -c %s -o %t.o && %links %t.o
#include <flick.h>

int sink(int);
inline int copied(int x) { return sink(x) + 1; }
FLICK_NXP inline int placed(int x) { return sink(x) + 2; }
extern inline __attribute__((gnu_inline)) int gnu(int x) { return sink(x) + 3; }

// CHECK-NOT: nxp_placed
// CHECK-LABEL: <__flick_nxp_user>:
// CHECK-DAG: R_RISCV_CALL_PLT __flick_call_sink
// CHECK-DAG: R_RISCV_CALL_PLT __flick_call_placed
// CHECK-NOT: __flick_call_copied
// CHECK-NOT: __flick_call_gnu
FLICK_NXP int user(int x) { return copied(x) + placed(x) + gnu(x); }
// The host does not look into a placed inline function either.
// HOST: U placed
int host_user(int x) { return placed(x); }
