// Every construct that cannot be placed is an error at its place; all of a unit are reported.
// RUN: not %flick -mavx -O1 -fexceptions -Wno-everything -c %s -o %t.o 2>%t.err; FileCheck %s <%t.err
// RUN: test ! -e %t.o
// RUN: %plain -mavx -O1 -fexceptions -Wno-everything -c %s -o %t.o
#include <flick.h>
#include <emmintrin.h>
#include <unistd.h>

typedef float v8 __attribute__((vector_size(32)));
v8 get_v8(void);
int ext(int);

FLICK_NXP int assembly(int x) {
  // CHECK: refused.c:[[#@LINE+1]]:{{.*}}error: [FLK0202] inline assembly in 'assembly', which is placed on the NxP
  __asm__ volatile("hlt");
  return x;
}
// CHECK: refused.c:[[#@LINE+1]]:{{.*}}error: [FLK0203] {{.*}}llvm.x86.sse2.clflush
FLICK_NXP void intrinsic(void) { _mm_clflush(&ext); }
// CHECK: refused.c:[[#@LINE+1]]:{{.*}}error: [FLK0204] a value of type long double in 'extended'
FLICK_NXP double extended(long double x) { return x; }
// CHECK: refused.c:[[#@LINE+1]]:{{.*}}error: [FLK0204]
FLICK_NXP double inside(double x) { return (double)((long double)x * 3); }
// CHECK: refused.c:[[#@LINE+1]]:{{.*}}error: [FLK0205] a result of type <8 x float> in 'vector'
FLICK_NXP v8 vector(v8 x) { return x; }
// CHECK: refused.c:[[#@LINE+1]]:{{.*}}error: [FLK0206] a call of 'get_v8' in 'uncovered'
FLICK_NXP float uncovered(void) { return get_v8()[0]; }
// CHECK: refused.c:[[#@LINE+1]]:{{.*}}error: [FLK0206] a call through a pointer in 'indirect'
FLICK_NXP float indirect(v8 (*f)(void)) { return f()[0]; }
// CHECK: refused.c:[[#@LINE+1]]:{{.*}}error: [FLK0208] a call of 'vfork'
FLICK_NXP int twice(void) { return vfork(); }
// CHECK: refused.c:[[#@LINE+1]]:{{.*}}error: [FLK0212] a naked function
FLICK_NXP __attribute__((naked)) void bare(void) { __asm__("ret"); }
// CHECK: refused.c:[[#@LINE+1]]:{{.*}}error: [FLK0212] an x86-64 calling convention
FLICK_NXP __attribute__((ms_abi)) int windows(int x) { return x; }
// CHECK: refused.c:[[#@LINE+1]]:{{.*}}error: [FLK0212] the address of a caller's frame
FLICK_NXP void *frames(void) { return __builtin_return_address(2); }
// CHECK: refused.c:[[#@LINE+1]]:{{.*}}error: [FLK0212] a value of type ptr addrspace(256)
FLICK_NXP int segment(char *__seg_gs *p) { return p != 0; }
// CHECK: refused.c:[[#@LINE+1]]:{{.*}}error: [FLK0212] a value of type fp128
FLICK_NXP float quad(__float128 x) { return (float)x; }
// CHECK: refused.c:[[#@LINE+1]]:{{.*}}error: [FLK0212] a read of the time-stamp counter
FLICK_NXP long ticks(void) { return __builtin_readcyclecounter(); }
// CHECK: refused.c:[[#@LINE+1]]:{{.*}}error: [FLK0202] inline assembly in 'sides', which is placed on both sides
FLICK_BOTH int sides(int x) { __asm__("hlt"); return x; }
// CHECK: refused.c:[[#@LINE+2]]:{{.*}}error: [FLK0206] a call of 'resume' in a musttail return
float resume(float);
FLICK_NXP float tail(float x) { __attribute__((musttail)) return resume(x); }
// CHECK-NOT: error: [
// CHECK: errors generated.
