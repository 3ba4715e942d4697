// Calls inside the unit: direct to strong NxP code, by name to what the linker may replace; addresses are
// those of gates.
// RUN: %flick -O1 -c %s -o %t.o && %dis %t.o | FileCheck %s
// RUN: %links %t.o
#include <flick.h>

FLICK_NXP __attribute__((noinline)) int strong(int x) { return x * 3 + 1; }
FLICK_NXP __attribute__((noinline, weak)) int weak(int x) { return x * 5 + 1; }
int alias(int) __attribute__((alias("strong")));
void take(int (*)(int));

// CHECK-LABEL: <__flick_nxp_calls>:
// CHECK: R_RISCV_CALL_PLT __flick_nxp_strong
// CHECK: R_RISCV_CALL_PLT __flick_call_weak
// CHECK: R_RISCV_CALL_PLT __flick_nxp_strong
// CHECK: R_RISCV_GOT_HI20 strong
// CHECK: R_RISCV_CALL_PLT __flick_call_take
// CHECK: R_RISCV_GOT_HI20 weak
FLICK_NXP int calls(int x) {
  x = strong(x);
  x = weak(x);
  x = alias(x);
  take(strong);
  take(weak);
  return x;
}
