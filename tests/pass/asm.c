// Empty inline assembly is a barrier on both sides and loses its x86-64 clobbers; that which only pauses or
// orders memory becomes RV64's.
// RUN: for o in 0 2; do %flick -O$o -c %s -o %t.o && %links %t.o || exit 1; done
// RUN: %places %t.o | grep -c mark | grep -x 7
// RUN: %dis %t.o | FileCheck %s
#include <flick.h>

FLICK_NXP int barrier(int *p) {
  int x = *p;
  __asm__ volatile("" ::: "memory", "rax", "xmm0", "cc");
  return x + *p;
}
FLICK_NXP int opaque(int x) {
  __asm__("" : "+r"(x));
  return x;
}
FLICK_NXP double floating(double x, float *y) {
  __asm__("" : "+x"(x));
  __asm__ volatile("" : "+m"(*y));
  return x;
}
FLICK_NXP void escape(void *p, long n) { __asm__ volatile("" : : "g"(p), "rm"(n), "a"(n) : "memory"); }
// CHECK-LABEL: <__flick_nxp_relax>:
// CHECK: fence w, 0
// CHECK-NOT: fence
// CHECK: ret
FLICK_NXP void relax(void) { __asm__ volatile("rep; nop # and no more\n\tnop" ::: "memory"); }
// CHECK-LABEL: <__flick_nxp_order>:
// CHECK: fence rw, rw
// CHECK: sw
// CHECK: fence rw, rw
// CHECK: ret
FLICK_NXP void order(int *p) {
  __asm__ volatile("mfence" ::: "memory");
  *p = 1;
  __asm__ volatile("lock; addl $0,0(%%rsp)" ::: "memory", "cc");
}
// CHECK-LABEL: <__flick_nxp_aligned>:
// CHECK-NOT: nop
// CHECK: ret
FLICK_NXP int aligned(int x) {
  __asm__(".p2align 6");
  __asm__("nop\n\t.balign 16,,8");
  return x;
}
