// x86-64 code accesses memory at any alignment, and so does the NxP: one instruction, not bytes.
// RUN: %flick -O1 -c %s -o %t.o && %dis %t.o | FileCheck %s
#include <flick.h>

// CHECK-LABEL: <__flick_nxp_copy>:
// CHECK-NOT: lbu
// CHECK: ld
// CHECK-NOT: sb
// CHECK: sd
FLICK_NXP void copy(void *to, const void *from) { __builtin_memcpy(to, from, 8); }

struct __attribute__((packed)) P {
  char c;
  short s;
  int i;
};
// CHECK-LABEL: <__flick_nxp_sum>:
// CHECK-NOT: lbu
// CHECK-DAG: lh
// CHECK-DAG: lw
FLICK_NXP int sum(const struct P *p) { return p->s + p->i; }
