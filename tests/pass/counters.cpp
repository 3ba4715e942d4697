// Profile counters that the front end writes count the host's copies; NxP code has none.
// RUN: %flickxx -O1 @%S/counters.flags -S -emit-llvm %s -o - | FileCheck %s
// RUN: %flickxx -O1 @%S/counters.flags -c %s -o %t.o && %dis %t.o | FileCheck %s --check-prefix=NXP
// RUN: %links %t.o
// RUN: %flickxx -O0 @%S/counters.flags -fcoverage-mcdc -c %s -o %t.o && %links %t.o
#include <flick.h>

// CHECK: define internal {{.*}} @__flick_twin__Z6placedii
// CHECK: @__profc__Z6placedii
// NXP: <__flick_nxp__Z6placedii>:
// NXP-NOT: prof
FLICK_NXP int placed(int x, int y) { return (x > 1 && y > 2) || x < y ? x + 1 : y; }
