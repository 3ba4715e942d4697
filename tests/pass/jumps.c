// Records of where jumps through registers lead: the number of targets and of jumps, and the addresses of either.
// RUN: %flick -O2 -c %s -o %t.o && %nxp %t.o %t.nxp && { llvm-objdump-19 -s -j .flick.jumps %t.nxp; llvm-objdump-19 -r %t.nxp; } | FileCheck %s
// RUN: for o in 0 1 s; do %flick -O$o -ffunction-sections -c %s -o %t.o && %links %t.o && %nxp %t.o %t.nxp && llvm-objdump-19 -s -j .flick.jumps %t.nxp | FileCheck %s --check-prefix=ALL || exit 1; done
// RUN: %flick -x c++ -O2 -c %s -o %t.o && %nxp %t.o %t.nxp && llvm-readelf-19 -gW %t.nxp | FileCheck %s --check-prefix=GROUP
#include "flick.h"

// A tail call leads to no place of its function.
// CHECK: Contents of section .flick.jumps:
// CHECK-NEXT: 0000 00000000 01000000 00000000 00000000
FLICK_NXP long tail(long (*f)(long), long x) { return f(x + 1); }

// No jump, no record.
FLICK_NXP long call(long (*f)(long), long x) { return f(x) + 1; }

// Three labels, and three jumps to any of them.
// CHECK-NEXT: 0010 03000000 03000000 00000000 00000000
// CHECK-NEXT: 0020 00000000 00000000 00000000 00000000
// CHECK-NEXT: 0030 00000000 00000000 00000000 00000000
// ALL: 03000000 0{{[1-3]}}000000
FLICK_NXP long interpret(const unsigned char *pc, long x) {
  const void *const table[] = {&&add, &&twice, &&stop};
  goto *table[*pc++];
add:
  x += 3;
  goto *table[*pc++];
twice:
  x *= 2;
  goto *table[*pc++];
stop:
  return x;
}

// A switch with six cases. Its default is no target of the table.
// CHECK-NEXT: 0040 00000000 00000000 06000000 01000000
FLICK_NXP void cases(unsigned n, void (*f)(int)) {
  switch (n) {
  case 0:
    f(71);
    f(3);
    break;
  case 1:
    f(4);
    break;
  case 2:
    f(80);
    f(70);
    break;
  case 3:
    f(1);
    f(2);
    break;
  case 4:
    f(99);
    break;
  case 5:
    f(2);
    f(4);
    break;
  }
  f(5);
  __asm__ volatile("");
}

#ifdef __cplusplus
// GROUP: COMDAT group section {{.*}} [__flick_nxp__Z6sharedPFllEl]
// GROUP: {{\]}} .text
// GROUP: {{\]}} .flick.jumps
FLICK_NXP inline long shared(long (*f)(long), long x) { return f(x); }
long use(long x) { return shared(0, x); }
#endif

// CHECK: RELOCATION RECORDS FOR [.flick.jumps]:
// CHECK-COUNT-14: R_RISCV_64 .L
