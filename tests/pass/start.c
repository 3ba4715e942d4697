// Placed constructors, destructors and main; tables of function pointers hold gates.
// RUN: %flick -O2 -c %s -o %t.o && llvm-readelf-19 -srW %t.o | FileCheck %s
// RUN: %links %t.o
#include <flick.h>

int ext(int);
// CHECK: '.rela.init_array'
// CHECK-NEXT: Offset
// CHECK-NEXT: before.flick.
// CHECK: FUNC GLOBAL DEFAULT {{[0-9]+}} main
FLICK_NXP __attribute__((constructor)) static void before(void) { ext(1); }
FLICK_NXP __attribute__((destructor)) static void after(void) { ext(2); }
FLICK_NXP static int one(int x) { return ext(x) + 1; }
FLICK_NXP static int two(int x) { return ext(x) + 2; }
static int (*const table[])(int) = {one, two};
FLICK_NXP int main(int argc, char **argv) { return table[argc & 1](argv != 0); }
