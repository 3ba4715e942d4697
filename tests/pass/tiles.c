// Functions with tiles: their records have the tile's name, calls of the same tile are direct and inlined,
// and those of others go to the gate.
// RUN: %flick -O2 -S %s -o - | FileCheck %s --check-prefix=RECORD
// RUN: %flick -O2 -c %s -o %t.o && %dis %t.o | FileCheck %s
// RUN: %nxp %t.o %t.n && llvm-readelf-19 -s %t.n | FileCheck %s --check-prefix=SYMBOL
// RUN: %flick -O0 -c %s -o %t.o && %dis %t.o | FileCheck %s --check-prefix=LEVEL0
// RUN: %links %t.o
// RUN: %places %t.o | FileCheck %s --check-prefix=PLACE
#include <flick.h>

// Flags: 1 for the NxP, 4 plain, 16 a tile.
// RECORD: .Lflick_name1:
// RECORD-NEXT: .ascii "small"
// RECORD-NEXT: .byte 0
// RECORD-NEXT: .byte 98
// RECORD-NEXT: .byte 0
// RECORD: .quad .Lflick_name1
// RECORD-NEXT: .quad
// RECORD-NEXT: .long 21
// No call by name of another unit leads to the code.
// SYMBOL-DAG: [VARIANT_CC] {{.*}} __flick_nxp_small.flick.
// SYMBOL-DAG: {{HIDDEN +[0-9]+}} __flick_nxp_none
// PLACE: small nxp mark on the tile b
FLICK_NXP_ON("b") static int small(int x) { return x + 1; }
// CHECK-LABEL: <__flick_nxp_same>:
// CHECK-NEXT: addiw a0, a0, 0x2
// CHECK-NEXT: ret
// LEVEL0-LABEL: <__flick_nxp_same>:
// LEVEL0: R_RISCV_CALL_PLT __flick_nxp_small.flick.
FLICK_NXP_ON("b") int same(int x) { return small(x) + 1; }
// CHECK-LABEL: <__flick_nxp_other>:
// CHECK: R_RISCV_CALL_PLT __flick_call_small.flick.
FLICK_NXP_ON("a") int other(int x) { return small(x) + 2; }
// CHECK-LABEL: <__flick_nxp_none>:
// CHECK: R_RISCV_CALL_PLT __flick_call_small.flick.
// LEVEL0-LABEL: <__flick_nxp_none>:
// LEVEL0: R_RISCV_CALL_PLT __flick_call_small.flick.
FLICK_NXP int none(int x) { return small(x) + 3; }
FLICK_NXP_ON("b") float single(float x) { return x + 1; }
// CHECK-LABEL: <__flick_nxp_calls_single>:
// CHECK: R_RISCV_GOT_HI20 single
// CHECK: R_RISCV_CALL_PLT __flick_stub_
FLICK_NXP_ON("a") float calls_single(float x) { return single(x); }
// An address is that of the gate, and stays one: its tile is known by it.
// CHECK-LABEL: <__flick_nxp_address>:
// CHECK: R_RISCV_GOT_HI20 small.flick.
FLICK_NXP_ON("b") int (*address(void))(int) { return small; }
// CHECK-LABEL: <__flick_nxp_constant>:
// CHECK: R_RISCV_CALL_PLT __flick_call_small.flick.
FLICK_NXP_ON("a") int constant(int x) {
  int (*f)(int) = small;
  return f(x);
}
