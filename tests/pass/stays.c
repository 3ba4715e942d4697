// What a glob or chance chose and cannot be placed stays on the host, and the lines say why; a refusal of a
// callee can refuse its callers; an exact name is an error.
// RUN: cd %S && echo 'nxp *' >%t.place; %flick -mavx -O1 -mllvm -flick-place=%t.place -c stays.c -o %t.o && %places %t.o | tr '\t' '|' | FileCheck stays.c
// RUN: %dis %t.o >%t.dis && FileCheck stays.c --check-prefix=NXP <%t.dis && not grep -e nxp_make -e nxp_stops %t.dis
// RUN: %links %t.o
// RUN: %flick -mavx -O1 -mllvm -flick-random=7:100 -c stays.c -o %t.o && %places %t.o | tr '\t' '|' | FileCheck stays.c
// RUN: echo 'nxp stops' >%t.place; not %flick -mavx -O1 -mllvm -flick-place=%t.place -c stays.c -o %t.o 2>%t.err; FileCheck stays.c --check-prefix=ERROR <%t.err
#include <flick.h>

typedef float pair __attribute__((vector_size(32)));

// CHECK-DAG: v1|stays.c|goes|nxp|{{glob|random}}
// NXP: <__flick_nxp_goes>:
// NXP: R_RISCV_CALL_PLT __flick_call_stops
int stops(int);
int goes(int x) { return stops(x) + 1; }
// CHECK-DAG: v1|stays.c|stops|host|refused:FLK0202|inline assembly: the NxP does not run x86-64 instructions|stays.c|
// ERROR: stays.c:[[#@LINE+1]]:{{.*}}error: [FLK0202] inline assembly in 'stops'
int stops(int x) { __asm__ volatile("hlt"); return x; }
// CHECK-DAG: v1|stays.c|make|host|refused:FLK0205|a result of type <8 x float>: the crossing does not cover it|stays.c|
__attribute__((noinline)) pair make(float x) { return (pair){x, x}; }
// CHECK-DAG: v1|stays.c|caller|host|refused:FLK0206|a call of 'make': the crossing does not cover a result of type <8 x float>|stays.c|
float caller(float x) { return make(x)[1]; }
