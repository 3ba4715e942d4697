// Calls inside the unit: direct to strong NxP code, by name to what the linker may replace; addresses are
// those of gates.
// RUN: flick -O1 -c $s -o $t.o && dis $t.o | check $s
// RUN: links $t.o
#include <flick.h>
#include <string.h>

FLICK_NXP __attribute__((noinline)) int strong(int x) { return x * 3 + 1; }
FLICK_NXP __attribute__((noinline, weak)) int weak(int x) { return x * 5 + 1; }
int alias(int) __attribute__((alias("strong")));
void take(int (*)(int));

// CHECK-LABEL: <__flick_nxp_calls>:
// CHECK: R_RISCV_CALL_PLT __flick_nxp_strong
// CHECK: R_RISCV_CALL_PLT __flick_call_weak
// CHECK: R_RISCV_CALL_PLT __flick_call_alias
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
// libnxp's own memcpy is for calls; the address is the host's.
// CHECK-LABEL: <__flick_nxp_addresses>:
// CHECK-NOT: R_RISCV_GOT_HI20 memcpy
// CHECK: R_RISCV_GOT_HI20 __flick_address_memcpy
// CHECK-NOT: R_RISCV_GOT_HI20 memcpy
// RUN: llvm-nm-19 $t.o | grep 'V __flick_address_memcpy'
FLICK_NXP void *addresses(int n, char *a, char *b) {
  __builtin_memcpy(a, b, n);
  return (void *)memcpy;
}
// CHECK-LABEL: <__flick_nxp_picks>:
// CHECK-NOT: R_RISCV_GOT_HI20 memcpy
FLICK_NXP void *picks(int n) {
  void *p;
  switch (n) {
  case 1: p = (void *)memcpy; break;
  case 2: p = (void *)memmove; break;
  case 3: p = (void *)memcpy; break;
  default: p = n > 4 ? (void *)memcpy : (void *)memset;
  }
  return p;
}
