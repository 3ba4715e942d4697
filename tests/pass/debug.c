// With -g both halves have their own line table and the object links.
// RUN: flick -O2 -g -c $s -o $t.o && nxp $t.o $t.n && llvm-dwarfdump-19 --debug-info --debug-line $t.n | check $s
// RUN: llvm-dwarfdump-19 --verify $t.o && links $t.o
// RUN: flick -O0 -g3 -c $s -o $t.o && nxp $t.o $t.n && llvm-dwarfdump-19 --debug-line $t.n | grep is_stmt && links $t.o
// RUN: llvm-dwarfdump-19 --debug-info $t.o | check $s --check-prefix=HOST
#include <flick.h>

// CHECK-DAG: DW_AT_name ("debug.c")
// CHECK-DAG: DW_AT_name ("traced")
// CHECK-DAG: {{0x[0-9a-f]+ +}}[[#@LINE+4]] {{.*}} is_stmt
// HOST-DAG: DW_AT_name ("traced")
// HOST-DAG: DW_AT_name ("state")
static int state;
FLICK_NXP int traced(int x) { state += x; return state; }
int main(void) { return traced(2); }
