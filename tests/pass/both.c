// Inline functions and small leaves are compiled for both sides when NxP code calls them.
// RUN: %flick -O1 -c %s -o %t.o && %dis %t.o | FileCheck %s
// RUN: %places %t.o | FileCheck %s --check-prefix=PLACE
// RUN: llvm-nm-19 %t.o | FileCheck %s --check-prefix=HOST
// RUN: %links %t.o
// RUN: %flick -O0 -c %s -o %t.o && %links %t.o
#include <flick.h>

int sink(int);

// PLACE-DAG: v1{{.*}}both.c{{.}}leaf{{.}}both{{.}}leaf
// PLACE-DAG: v1{{.*}}both.c{{.}}helper{{.}}both{{.}}inline
// PLACE-DAG: v1{{.*}}both.c{{.}}even{{.}}both{{.}}inline
// PLACE-DAG: v1{{.*}}both.c{{.}}odd{{.}}both{{.}}inline
// PLACE-DAG: v1{{.*}}both.c{{.}}asked{{.}}both{{.}}mark
// PLACE-DAG: v1{{.*}}both.c{{.}}native{{.}}host{{.}}mark
// PLACE-NOT: big_one
// PLACE-NOT: uncalled

// A leaf that others can call has a record of flags 2 | 4.
// HOST-DAG: t __flick_host_leaf
// HOST-DAG: U __flick_nxp_leaf
// HOST-DAG: T leaf
// HOST-DAG: t __flick_host_asked
// HOST-DAG: U __flick_nxp_asked
// HOST-NOT: __flick_nxp_helper
__attribute__((noinline)) int leaf(int x) { return x * 7 + 1; }
static inline int helper(int x) { return sink(x) + leaf(x); }
static inline int odd(int x);
static inline int even(int x) { return x == 0 ? sink(0) : odd(x - 1); }
static inline int odd(int x) { return x == 0 ? sink(1) : even(x - 1); }
FLICK_BOTH __attribute__((noinline)) int asked(int x) { return sink(x) + sink(x + 1); }
FLICK_HOST __attribute__((noinline)) int native(int x) { return x + 9; }
__attribute__((noinline)) int big_one(int x) { return sink(x) * 2; }
inline int unused_inline(int x) { return x; }
int uncalled(int x) { return x + 1; }

// CHECK-LABEL: <__flick_nxp_work>:
// CHECK: R_RISCV_CALL_PLT __flick_call_sink
// CHECK: R_RISCV_CALL_PLT __flick_nxp_leaf
// CHECK: R_RISCV_CALL_PLT __flick_nxp_asked
// CHECK: R_RISCV_CALL_PLT __flick_call_native
// CHECK: R_RISCV_CALL_PLT __flick_call_big_one
FLICK_NXP int work(int x) {
  x = helper(x) + even(x);
  x += asked(x);
  x += native(x);
  return x + big_one(x);
}

// Random placement wants crossings: leaves are not copied.
// RUN: %flick -O1 -DRANDOM -mllvm -flick-random=1:0 -c %s -o %t.o && %dis %t.o | FileCheck %s --check-prefix=RANDOM
// RANDOM: R_RISCV_CALL_PLT __flick_call_leaf
