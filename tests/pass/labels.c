// Tables of label addresses: each half has its own copy.
// RUN: for o in 0 2; do %flick -O$o -c %s -o %t.o && %links %t.o && %nxp %t.o %t.n && llvm-nm-19 %t.n | FileCheck %s || exit 1; done
// RUN: llvm-nm-19 %t.o | FileCheck %s
// RUN: not %flick -O1 -DWRITE -c %s -o %t.o 2>%t.err; FileCheck %s --check-prefix=WRITE <%t.err
#include <flick.h>

// CHECK: {{[rd]}} dispatch.table
FLICK_NXP int dispatch(const char *code) {
  static void *table[] = {&&add, &&twice, &&stop};
  int x = 1;
#ifdef WRITE
  // WRITE: error: [FLK0212] a table of label addresses that may be written or seen elsewhere in 'dispatch'
  table[1] = table[0];
#endif
  goto *table[(int)*code++];
add:
  x += 3;
  goto *table[(int)*code++];
twice:
  x *= 2;
  goto *table[(int)*code++];
stop:
  return x;
}
