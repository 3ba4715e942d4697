// Small integers: the NxP extends what it receives and what it returns.
// RUN: %flick -O2 -c %s -o %t.o && %dis %t.o | FileCheck %s
#include <flick.h>

unsigned char ext(signed char);

// CHECK-LABEL: <__flick_nxp_received>:
// CHECK: andi {{.*}}, 0xff
FLICK_NXP long received(unsigned char x) { return x; }
// CHECK-LABEL: <__flick_nxp_word>:
// CHECK: sext.w
FLICK_NXP long word(int x) { return x; }
// CHECK-LABEL: <__flick_nxp_called>:
// CHECK: __flick_call_ext
// CHECK: andi {{.*}}, 0xff
FLICK_NXP long called(long x) { return ext((signed char)x); }
// CHECK-LABEL: <__flick_nxp_returned>:
// CHECK: sext.b
FLICK_NXP signed char returned(long x) { return (signed char)x; }
