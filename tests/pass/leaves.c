// Small functions that call only such functions, or inline ones, or libnxp's, are copied, too; those
// that may come to the host or to themselves are not.
// RUN: %flick -O1 -c %s -o %t.o && %places %t.o | FileCheck %s
// RUN: %dis %t.o | FileCheck %s --check-prefix=NXP && %links %t.o
// RUN: %flick -O0 -c %s -o %t.o && %links %t.o && %places %t.o | FileCheck %s
// RUN: %flick -O1 -mllvm -flick-no-leaves -c %s -o %t.o && %places %t.o | FileCheck %s --check-prefix=NONE
#include <flick.h>
#define COPY __attribute__((noinline)) static

int sink(int);
unsigned long strlen(const char *);
FLICK_HOST int native(int x) { return x + 9; }
FLICK_BOTH int quiet(int x) { return x + 10; }
FLICK_BOTH int loud(int x) { return sink(x) + 11; }
static inline int silent(int x) { return quiet(x) + 12; }
static inline int spoken(int x) { return sink(x) + 13; }

// CHECK-DAG: one{{.}}both{{.}}leaf
// CHECK-DAG: two{{.}}both{{.}}leaf
// CHECK-DAG: three{{.}}both{{.}}leaf
// CHECK-DAG: by_inline{{.}}both{{.}}leaf
// CHECK-DAG: silent{{.}}both{{.}}{{inline|leaf}}
// CHECK-DAG: by_both{{.}}both{{.}}leaf
// CHECK-DAG: by_library{{.}}both{{.}}leaf
// CHECK-DAG: own_labels{{.}}both{{.}}leaf
// NONE-NOT: {{leaf}}
// NONE: native
COPY int one(int x) { return x * 2 + 1; }
COPY int two(int x) { return one(x) + one(x + 1); }
COPY int three(int x) { return two(x) * 3; }
COPY int by_inline(int x) { return silent(x) + 4; }
COPY int by_both(int x) { return quiet(x) + 5; }
COPY int by_library(const char *s) { return (int)strlen(s) + 6; }
COPY int own_labels(int x) {
  static const void *const table[] = {&&one, &&two};
  goto *table[x & 1];
one:
  x += 7;
two:
  return x;
}

// NXP-DAG: R_RISCV_CALL_PLT __flick_call_keeps_label
// NXP-DAG: R_RISCV_CALL_PLT __flick_call_to_host
// NXP-DAG: R_RISCV_CALL_PLT __flick_call_to_native
// NXP-DAG: R_RISCV_CALL_PLT __flick_call_to_pointer
// NXP-DAG: R_RISCV_CALL_PLT __flick_call_to_itself
// NXP-DAG: R_RISCV_CALL_PLT __flick_call_even
// NXP-DAG: R_RISCV_CALL_PLT __flick_call_by_loud
// NXP-DAG: R_RISCV_CALL_PLT __flick_call_by_spoken
// NXP-DAG: R_RISCV_CALL_PLT __flick_call_to_nxp
// NXP-DAG: R_RISCV_CALL_PLT __flick_call_by_refused
__attribute__((noinline)) int to_host(int x) { return sink(x) + 1; }
__attribute__((noinline)) int to_native(int x) { return native(x) + 2; }
__attribute__((noinline)) int to_pointer(int (*f)(int), int x) { return f(x) + 3; }
__attribute__((noinline)) int to_itself(int x) { return x < 2 ? x : to_itself(x - 1) * to_itself(x - 2); }
int odd(int x);
__attribute__((noinline)) int even(int x) { return x == 0 ? one(x) : odd(x - 1) + 4; }
__attribute__((noinline)) int odd(int x) { return x == 0 ? two(x) : even(x - 1) + 5; }
__attribute__((noinline)) int by_loud(int x) { return loud(x) + 6; }
__attribute__((noinline)) int by_spoken(int x) { return spoken(x) + 7; }
FLICK_NXP int user(int, const char *);
__attribute__((noinline)) int to_nxp(int x) { return user(x, "") + 8; }
// The label that one call keeps is the next call's.
static void *kept;
__attribute__((noinline)) int keeps_label(int x) {
  if (!kept)
    kept = x ? &&one : &&two;
  goto *kept;
one:
  x += 7;
two:
  return x;
}
COPY int refused(int x) { return (int)((long double)x * 3); }
__attribute__((noinline)) int by_refused(int x) { return refused(x) + 9; }

FLICK_NXP int user(int x, const char *s) {
  x = three(x) + by_inline(x) + by_both(x) + by_library(s) + own_labels(x);
  x += to_host(x) + to_native(x) + to_pointer(native, x) + to_itself(x) + even(x);
  return x + by_loud(x) + by_spoken(x) + to_nxp(x) + by_refused(x) + keeps_label(x);
}
