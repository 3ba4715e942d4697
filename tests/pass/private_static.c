// A static function that only NxP functions of its unit call is a part of them: either half inlines
// and drops it, and none of it is compiled where nothing is left to call it.
// RUN: %flick -O1 -c %s -o %t.o && llvm-nm-19 %t.o | FileCheck %s
// RUN: %dis %t.o | FileCheck %s --check-prefix=NXP && %links %t.o
// RUN: %places %t.o | FileCheck %s --check-prefix=PLACE
// RUN: %flick -O0 -c %s -o %t.o && %links %t.o && llvm-nm-19 %t.o | FileCheck %s --check-prefix=O0
// RUN: %flick -O1 -S -emit-llvm %s -o - | FileCheck %s --check-prefix=IR
#include <flick.h>

// The marks are gone, other annotations stay.
// IR: @llvm.global.annotations = appending global [1 x { ptr, ptr, ptr, i32, ptr }] [{ ptr, ptr, ptr, i32, ptr } { ptr @host_user,
__attribute__((annotate("mine"))) int host_user(int x);

// CHECK-NOT: forced
// CHECK-NOT: _inlined
// O0-NOT: forced
// O0: t __flick_twin_inlined
// NXP-NOT: forced
// NXP-NOT: _inlined
// PLACE-DAG: forced{{.}}nxp{{.}}mark
// PLACE-DAG: inlined{{.}}nxp{{.}}mark
FLICK_NXP __attribute__((always_inline)) static inline int forced(int x) { return x * 3; }
FLICK_NXP static int inlined(int x) { return forced(x) + 1; }

// CHECK-DAG: t __flick_twin_kept
// NXP-DAG: <__flick_nxp_kept>:
FLICK_NXP __attribute__((noinline)) static int kept(int x) { return x * 5; }

// These have callers or an address elsewhere, or assembly and attributes that name them.
// CHECK-DAG: T called.flick.[[H:[0-9a-f]+]]
// CHECK-DAG: T taken.flick.[[H]]
// CHECK-DAG: T used.flick.[[H]]
// CHECK-DAG: T named.flick.[[H]]
// CHECK-DAG: T shared.flick.[[H]]
FLICK_NXP static int called(int x) { return x * 7; }
FLICK_NXP static int taken(int x) { return x * 11; }
FLICK_NXP __attribute__((used)) static int used(int x) { return x * 13; }
FLICK_NXP static int named(int x) { return x * 17; }
FLICK_NXP static int shared(int x) { return x * 19; }
__asm__(".data\n.quad named\n.text");
FLICK_BOTH int both(int x) { return shared(x); }

FLICK_NXP int user(int x) {
  int (*volatile pointer)(int) = taken;
  return inlined(x) + forced(x) + kept(x) + called(x) + pointer(x) + used(x) + named(x) + shared(x);
}
int host_user(int x) { return called(x) + both(x); }
