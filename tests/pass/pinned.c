// Internal symbols that assembly names keep their names; the NxP half has aliases.
// RUN: %flick -O2 -c %s -o %t.o && llvm-readelf-19 -sW %t.o | FileCheck %s
// RUN: %links %t.o
#include <flick.h>

// CHECK-DAG: OBJECT LOCAL DEFAULT {{.*}} counter{{$}}
// CHECK-DAG: OBJECT GLOBAL HIDDEN {{.*}} counter.flick.
// CHECK-DAG: FUNC LOCAL DEFAULT {{.*}} kept{{$}}
// CHECK-DAG: FUNC GLOBAL HIDDEN {{.*}} kept.flick.
__asm__(".pushsection .data.pinned,\"aw\"\n.quad counter\n.popsection");
static int counter;
FLICK_NXP __attribute__((used)) static int kept(void) { return ++counter; }
