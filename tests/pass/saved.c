// The saved registers that are pinned (s0 to s3) have the values that are used most. The register allocator
// prefers those that live longest.
// RUN: %flick -O2 -c %s -o %t.o && %dis %t.o | FileCheck %s
// RUN: %flick -O2 -fno-omit-frame-pointer -c %s -o %t.o && %dis %t.o | FileCheck %s --check-prefix=FRAME
#include "flick.h"

void host(long);

// `a` and `g` are used twice in a round.
// CHECK-LABEL: <__flick_nxp_loops>:
// CHECK: addi a0, s{{[0-3]}}, 0x1
// CHECK: li [[I:s[0-3]]], 0x0
// CHECK: addi [[I]], [[I]], 0x1
// Where s0 is the frame pointer, it stays that.
// FRAME-LABEL: <__flick_nxp_loops>:
// FRAME: addi s0, sp,
// FRAME: addi a0, s{{[1-3]}}, 0x1
// FRAME: li [[I:s[1-3]]], 0x0
FLICK_NXP void loops(long a, long b, long c, long d, long e, long g) {
  do {
    for (long i = 0; i != g; i++)
      host(i);
    host(a);
    host(b);
    host(c);
    host(d);
    host(e);
  } while (a++ != g);
}
