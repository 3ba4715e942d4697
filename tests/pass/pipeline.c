// What clang adds to LLVM's pipeline by options, as docs/driver.md says which half has it.
// Hooks: before inlining, each function's, on both sides.
// RUN: %flick -O2 -finstrument-functions -c %s -o %t.o && %links %t.o && %dis %t.o | FileCheck %s --check-prefix=HOOKS
// RUN: %flick -O2 -finstrument-functions-after-inlining -c %s -o %t.o && %links %t.o && %dis %t.o | FileCheck %s --check-prefix=LATER
// RUN: %flick -O2 -finstrument-functions-after-inlining -S -emit-llvm %s -o - | FileCheck %s --check-prefix=TWIN
// RUN: %flick -O2 -finstrument-function-entry-bare -c %s -o %t.o && %dis %t.o | grep __flick_call___cyg_profile_func_enter_bare
// The host half alone: profiles, counters, what guards its stack and its jumps.
// RUN: for f in -pg '-pg -mfentry' -fprofile-generate -fcs-profile-generate -fprofile-instr-generate --coverage -fmemory-profile -fpseudo-probe-for-profiling; do %flick -O2 $f -c %s -o %t.o && %links %t.o && %dis %t.o | not grep -E 'mcount|fentry|llvm_|prof|memprof' || { echo $f; exit 1; }; done
// RUN: for f in -fstack-protector-all -fstack-clash-protection -fcf-protection=full -fzero-call-used-regs=all -fpatchable-function-entry=4 -mspeculative-load-hardening -fsplit-machine-functions; do %flick -O2 $f -c %s -o %t.o && %links %t.o && %nxp %t.o %t.n && llvm-nm-19 %t.n >%t.with && %flick -O2 -c %s -o %t.p.o && %nxp %t.p.o %t.n && llvm-nm-19 %t.n | diff - %t.with || { echo $f; exit 1; }; done
// Both: what the front end writes out, and bounds of local objects.
// RUN: %flick -O2 -ftrivial-auto-var-init=zero -c %s -o %t.o && %dis %t.o | FileCheck %s --check-prefix=ZERO
// RUN: %flick -O2 -mllvm -flick-nxp-local-bounds -c %s -o %t.o && %dis %t.o | FileCheck %s --check-prefix=BOUNDS
// RUN: %flick -O2 -c %s -o %t.o && %dis %t.o | not grep -E 'unimp|ebreak'
// Loops: unrolled from -O2 on, or as clang's options say.
// RUN: for f in -O2; do test $(%flick $f -c %s -o %t.o && %dis %t.o | grep -c lw) -gt 5 || exit 1; done
// RUN: for f in '-O1' '-O2 -mllvm -flick-nxp-unroll=false'; do test $(%flick $f -c %s -o %t.o && %dis %t.o | grep -c lw) -lt 4 || exit 1; done
#include <flick.h>

// HOOKS-LABEL: <__flick_nxp_outer>:
// HOOKS: R_RISCV_GOT_HI20 outer
// HOOKS: R_RISCV_CALL_PLT __flick_call___cyg_profile_func_enter
// HOOKS: R_RISCV_GOT_HI20 inner.flick.
// HOOKS: R_RISCV_CALL_PLT __flick_call___cyg_profile_func_exit
// LATER-LABEL: <__flick_nxp_outer>:
// LATER: R_RISCV_GOT_HI20 outer
// LATER: R_RISCV_CALL_PLT __flick_call___cyg_profile_func_enter
// LATER-NOT: R_RISCV_GOT_HI20 inner
// LATER-LABEL: <__flick_nxp_inner
// TWIN-LABEL: define {{.*}}@__flick_twin_outer(
// TWIN: call void @__cyg_profile_func_enter(ptr{{.*}} @outer,
// TWIN: call void @__cyg_profile_func_exit(ptr{{.*}} @outer,
FLICK_NXP static int inner(int x) { return x * 3; }
FLICK_NXP int outer(int x) { return inner(x) + 1; }

// ZERO-LABEL: <__flick_nxp_initial>:
// ZERO: zero
// ZERO: __flick_call_use
int use(int *);
FLICK_NXP int initial(void) {
  int x;
  return use(&x);
}

// BOUNDS-LABEL: <__flick_nxp_indexed>:
// BOUNDS: {{unimp|ebreak}}
FLICK_NXP int indexed(int i) {
  int local[4] = {1, 2, 3, 4};
  use(local);
  return local[i];
}

FLICK_NXP int sum(const int *values) {
  int total = 0;
#pragma clang loop vectorize(disable)
  for (int i = 0; i < 8; ++i)
    total = total * 5 + values[i];
  return total;
}
