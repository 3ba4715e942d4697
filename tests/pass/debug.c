// With -g both halves have their own line table and the object links. The NxP half's tells lines and
// inlined calls, and nothing else: a function with a label and variables in inlined scopes that lost
// their code was more than LLVM's DWARF writer could do.
// RUN: cd %S && %flick -O2 -g -c debug.c -o %t.o && %nxp %t.o %t.n && llvm-dwarfdump-19 --debug-info --debug-line %t.n | FileCheck debug.c
// RUN: llvm-dwarfdump-19 --debug-info %t.n | not grep -E 'DW_TAG_(variable|formal_parameter|label|base_type)'
// RUN: llvm-dwarfdump-19 --verify %t.o && %links %t.o
// RUN: %flick -O0 -g3 -c debug.c -o %t.o && %nxp %t.o %t.n && llvm-dwarfdump-19 --debug-line %t.n | grep is_stmt && %links %t.o
// RUN: llvm-dwarfdump-19 --debug-info %t.o | FileCheck debug.c --check-prefix=HOST
#include <flick.h>

// CHECK-DAG: DW_AT_name ("debug.c")
// CHECK-DAG: DW_AT_name ("traced")
// CHECK-DAG: DW_AT_name ("inlined")
// CHECK-DAG: DW_TAG_inlined_subroutine
// CHECK-DAG: {{0x[0-9a-f]+ +}}[[#@LINE+13]] {{.*}} is_stmt
// HOST-DAG: DW_AT_name ("traced")
// HOST-DAG: DW_AT_name ("state")
static int state;
static inline int inlined(int x) {
  for (int i = 0; i < x; i++) {
    if (x * i == 77)
      goto out;
    state += i;
  }
out:
  return state;
}
FLICK_NXP int traced(int x) { state += x; return inlined(x) + state; }
int main(void) { return traced(2); }
