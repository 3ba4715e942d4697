// An inline function that is too large to be inlined stays a function of its own in both halves, as
// clang has it, though nothing but one NxP function of the unit calls it.
// RUN: %plainxx -O2 -c %s -o %t.o && llvm-nm-19 %t.o | FileCheck %s --check-prefix=CLANG
// RUN: %flickxx -O2 -c %s -o %t.o && llvm-nm-19 %t.o | FileCheck %s
// RUN: %dis %t.o | FileCheck %s --check-prefix=NXP && %links %t.o
#include <flick.h>

#define STEP(N) x = (x ^ table[x & 255]) * ((N) * 2 + 1) + (x >> ((N) % 31));
#define STEPS(N) STEP(N) STEP(N + 1) STEP(N + 2) STEP(N + 3) STEP(N + 4) STEP(N + 5)
#define MORE(N) STEPS(N) STEPS(N + 6) STEPS(N + 12) STEPS(N + 18) STEPS(N + 24) STEPS(N + 30)

extern unsigned table[256];

FLICK_NXP inline unsigned large(unsigned x) {
  MORE(1) MORE(37) MORE(73)
  return x;
}

// CLANG-DAG: W _Z5largej
// CHECK-DAG: W __flick_twin__Z5largej.flick.
// NXP-DAG: <__flick_nxp__Z5largej.flick.{{[0-9a-f]*}}>:
FLICK_NXP unsigned user(unsigned x) { return large(x); }
