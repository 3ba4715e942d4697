// Thread-locals: accessors in the host half, calls of them in the NxP half.
// RUN: %flick -O1 -c %s -o %t.o && llvm-nm-19 %t.o | FileCheck %s --check-prefix=HOST
// RUN: %dis %t.o | FileCheck %s
// RUN: %flick -O2 -fPIC -c %s -o %t.o && %links %t.o
// RUN: %flick -O0 -c %s -o %t.o && %links %t.o && %nxp %t.o %t.n && llvm-readelf-19 -rW %t.n | not grep TLS
#include <flick.h>

extern __thread int elsewhere;
__thread int here;
static __thread int mine;
void other(void);

// HOST-DAG: W __flick_tls_elsewhere
// HOST-DAG: W __flick_tls_here
// HOST-DAG: T __flick_tls_mine.flick.[[H:[0-9a-f]+]]
// HOST-NOT: __flick_tls_unused
__thread int unused;

// CHECK-LABEL: <__flick_nxp_touch>:
// CHECK-DAG: R_RISCV_CALL_PLT __flick_call___flick_tls_here
// CHECK-DAG: R_RISCV_CALL_PLT __flick_call___flick_tls_elsewhere
// CHECK-DAG: R_RISCV_CALL_PLT __flick_call___flick_tls_mine.flick.
// CHECK: R_RISCV_CALL_PLT __flick_call_other
// One address per thread: it is not asked for again.
// CHECK-NOT: __flick_call___flick_tls
// CHECK: ret
FLICK_NXP int touch(void) {
  here += elsewhere + mine;
  other();
  here++;
  return mine;
}
int unused_reader(void) { return unused; }
