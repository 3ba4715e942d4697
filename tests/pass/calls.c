// Calls that leave the unit: by name when both conventions agree, else through a stub.
// RUN: %flick -O1 -c %s -o %t.o && %dis %t.o | FileCheck %s
// RUN: %nxp %t.o %t.n && llvm-readelf-19 -p .rodata.str1.1 %t.n | FileCheck %s --check-prefix=TEXT
// RUN: %links %t.o
#include <flick.h>
#include <stdio.h>
#include <stdlib.h>

struct big { long a[3]; };
int unknown();
float one_float(float);
void takes_float(float);
long seven(long, long, long, long, long, long, long);
struct big by_value(struct big);
struct big result(void);
extern __attribute__((weak)) int maybe(int);

// TEXT-DAG: 1i(p.d)
// TEXT-DAG: 1f(f)
// TEXT-DAG: 1l(lllllll)
// TEXT-DAG: 1v(SB24a8)
// TEXT-DAG: 1f(d)
// TEXT-NOT: 1v(f)
// TEXT-NOT: (id.)

// CHECK-LABEL: <__flick_stub_0>:
// CHECK-NEXT: auipc t1, 0x0
// CHECK-NEXT: R_RISCV_PCREL_HI20 .Lflick_signature0
// CHECK: R_RISCV_GOT_HI20 __flick_xcall
// CHECK: jr t3

// CHECK-LABEL: <__flick_nxp_variadic>:
// CHECK-DAG: R_RISCV_GOT_HI20 printf
// CHECK-DAG: ld t2, 0x0
// CHECK: R_RISCV_CALL_PLT __flick_stub_
FLICK_NXP int variadic(double x) { return printf("%f\n", x) + 1; }
// CHECK-LABEL: <__flick_nxp_floats>:
// CHECK: R_RISCV_GOT_HI20 one_float
// CHECK: R_RISCV_CALL_PLT __flick_stub_
// CHECK: R_RISCV_CALL_PLT __flick_call_takes_float
FLICK_NXP void floats(float x) { takes_float(one_float(x) + 1); }
// CHECK-LABEL: <__flick_nxp_many>:
// CHECK: R_RISCV_GOT_HI20 seven
// CHECK: R_RISCV_CALL_PLT __flick_stub_
FLICK_NXP long many(long x) { return seven(x, 2, 3, 4, 5, 6, 7) + 1; }
// CHECK-LABEL: <__flick_nxp_structs>:
// CHECK: R_RISCV_CALL_PLT __flick_call_result
// CHECK: R_RISCV_GOT_HI20 by_value
// CHECK: R_RISCV_CALL_PLT __flick_stub_
FLICK_NXP long structs(void) { return by_value(result()).a[0]; }
// CHECK-LABEL: <__flick_nxp_unprototyped>:
// CHECK: R_RISCV_CALL_PLT __flick_call_unknown
FLICK_NXP int unprototyped(void) { return unknown(1, 2.0) + 1; }
// CHECK-LABEL: <__flick_nxp_pointers>:
// CHECK: jalr
// CHECK: mv t2, s
// CHECK: R_RISCV_CALL_PLT __flick_stub_
FLICK_NXP float pointers(int (*f)(int), float (*g)(double)) { return g(f(1)) + 1; }
// CHECK-LABEL: <__flick_nxp_heap>:
// CHECK: R_RISCV_CALL_PLT __flick_call___flick_heap_malloc
// CHECK: R_RISCV_CALL_PLT __flick_call_use
// CHECK: R_RISCV_CALL_PLT __flick_call___flick_heap_free
void use(void *);
FLICK_NXP int heap(void) {
  void *p = malloc(8);
  use(p);
  free(p);
  return 1;
}
// CHECK-LABEL: <__flick_nxp_weakly>:
// CHECK: R_RISCV_GOT_HI20 maybe
// CHECK: R_RISCV_CALL_PLT __flick_call_maybe
FLICK_NXP int weakly(int x) { return maybe ? maybe(x) + 1 : x; }
// RUN: llvm-nm-19 %t.n | FileCheck %s --check-prefix=WEAK
// WEAK-DAG: w __flick_call_maybe
// WEAK-DAG: w maybe
