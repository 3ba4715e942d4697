// With -g both halves have their own line table and the object links. The NxP half has its functions'
// variables and their types, and a static variable of a function with the host's symbol. Variables at
// file scope are the host half's alone. Where `twice` is inlined into two functions, each has assignments
// of its own to the parts of `p`.
// RUN: cd %S && %flick -O2 -g -c debug.c -o %t.o && %nxp %t.o %t.n && llvm-dwarfdump-19 --debug-info --debug-line %t.n | FileCheck debug.c
// RUN: llvm-dwarfdump-19 --debug-info %t.n | not grep -E 'DW_AT_name.*"(state|unused)"'
// RUN: %flick -O1 -g -c debug.c -o %t.o && %nxp %t.o %t.n && llvm-dwarfdump-19 --verify %t.o && %links %t.o
// RUN: llvm-dwarfdump-19 --verify %t.o && %links %t.o
// RUN: %flick -O0 -g3 -c debug.c -o %t.o && %nxp %t.o %t.n && llvm-dwarfdump-19 --debug-line %t.n | grep is_stmt && %links %t.o
// RUN: llvm-dwarfdump-19 --debug-info %t.o | FileCheck debug.c --check-prefix=HOST
#include <flick.h>

// CHECK-DAG: DW_AT_name ("debug.c")
// CHECK-DAG: DW_AT_name ("traced")
// CHECK-DAG: DW_AT_name ("inlined")
// CHECK-DAG: DW_TAG_inlined_subroutine
// CHECK-DAG: DW_TAG_formal_parameter
// CHECK-DAG: DW_AT_name ("counter")
// CHECK-DAG: DW_AT_linkage_name ("traced.counter.flick.{{[0-9a-f]+}}")
// CHECK-DAG: DW_AT_name ("pair")
// CHECK-DAG: {{0x[0-9a-f]+ +}}[[#@LINE+24]] {{.*}} is_stmt
// HOST-DAG: DW_AT_name ("traced")
// HOST-DAG: DW_AT_name ("state")
struct pair { long a, b; };
static int state;
enum unused { NOT_USED };
static inline __attribute__((always_inline)) long twice(long x) {
  struct pair p = {x, x};
  p.b += state;
  __asm__("" : "+r"(p.a));
  return p.a + p.b;
}
static inline int inlined(int x) {
  for (int i = 0; i < x; i++) {
    if (x * i == 77)
      goto out;
    state += i;
  }
out:
  return state;
}
FLICK_NXP long other(long x) { return twice(x) * 3; }
FLICK_NXP int traced(int x) {
  static int counter;
  struct pair p = {x, counter++};
  state += x;
  return inlined(x) + state + (int)twice(p.a + p.b) + (int)other(x);
}
int main(void) { return traced(2); }
