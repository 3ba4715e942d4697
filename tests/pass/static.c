// Internal symbols that both halves use get a unique hidden name; the others keep theirs.
// RUN: %flick -O2 -c %s -o %t.o && llvm-readelf-19 -sW %t.o | FileCheck %s
// RUN: %dis %t.o | FileCheck %s --check-prefix=NXP
// RUN: %links %t.o
#include <flick.h>

// CHECK-DAG: LOCAL DEFAULT {{.*}} mine{{$}}
// CHECK-DAG: GLOBAL HIDDEN {{.*}} shared.flick.[[H:[0-9a-f]+]]{{$}}
// CHECK-DAG: GLOBAL HIDDEN {{.*}} placed.count.flick.[[H]]{{$}}
// CHECK-DAG: GLOBAL HIDDEN {{.*}} callee.flick.[[H]]{{$}}
// CHECK-DAG: FUNC GLOBAL HIDDEN {{[0-9]+}} placed.flick.[[H]]{{$}}
// CHECK-DAG: FUNC LOCAL DEFAULT {{.*}} __flick_twin_placed.flick.[[H]]{{$}}
// CHECK-DAG: GLOBAL HIDDEN UND __flick_nxp_placed.flick.[[H]]{{$}}
static volatile int mine, shared;

FLICK_HOST __attribute__((noinline)) static void callee(int x) { mine = x; }

// NXP: <__flick_nxp_placed.flick.[[H:[0-9a-f]+]]>:
// NXP-DAG: R_RISCV_GOT_HI20 placed.count.flick.[[H]]
// NXP-DAG: R_RISCV_GOT_HI20 shared.flick.[[H]]
// NXP-DAG: R_RISCV_CALL_PLT __flick_call_callee.flick.[[H]]
FLICK_NXP static int placed(int x) {
  static int count;
  count += x;
  shared += count;
  callee(count);
  return count;
}

int main(void) { return placed(1) + mine + shared; }
