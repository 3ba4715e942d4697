// What -flick-timed adds to host code.
// RUN: %flick -O1 -fno-discard-value-names -mllvm -flick-timed -S -emit-llvm %s -o %t.ll
// RUN: FileCheck %s --input-file=%t.ll
// RUN: %flick -O0 -g -mllvm -flick-timed -c %s -o %t.o
// RUN: %flick -O2 -g -mllvm -flick-timed -c %s -o %t.o
// RUN: %flick -O2 -S -emit-llvm %s -o %t.ll && not grep -q flick_timed %t.ll
#include <string.h>

int library(int);
int table[100];

// Prices on the host and on the NxP; functions with what keeps them from the NxP.
// CHECK-DAG: @flick.costs = private global [{{[0-9]+}} x <2 x i64>] zeroinitializer, align 16
// CHECK-DAG: @flick.functions = private constant {{.*}} { ptr @assembly, ptr @[[NAME:flick.text[.0-9]*]], ptr @[[CODE:flick.text[.0-9]*]] }{{.*}} { ptr @main, ptr @{{flick.text[.0-9]*}}, ptr null }
// CHECK-DAG: @[[NAME]] = private unnamed_addr constant [9 x i8] c"assembly\00"
// CHECK-DAG: @[[CODE]] = private unnamed_addr constant [8 x i8] c"FLK0202\00"
// CHECK-DAG: @flick.timed = private constant { i32, i32, ptr, ptr, ptr, i64, ptr, ptr, ptr, ptr, i64, ptr } { i32 5, i32
// CHECK-DAG: @flick.runs = private global [{{[0-9]+}} x <2 x i64>] zeroinitializer, align 16
// The longest chain of a loop: an addition of numbers, in units of 1 / 256; one of a product and
// two additions, which is carried on through two values; and loads whose addresses are loaded.
// CHECK-DAG: @flick.loops = private constant [{{[0-9]+}} x [12 x i32]] {{.*}}[i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 256, i32 0, i32 0, i32 0, i32 0], {{.*}}[i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 256, i32 128, i32 0, i32 0, i32 0], {{.*}}[i32 0, i32 0, i32 0, i32 256, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0]
// CHECK-DAG: @llvm.global_ctors = {{.*}} { i32 1, ptr @flick.timed.register, ptr null }

// A pointer is looked at, behind its use; what is spent goes to the clock at the return. The call
// is left out where the table of lines has the line of the address.
// CHECK-LABEL: @pointer(
// CHECK: %flick.map = load ptr, ptr @__flick_timed_map, {{.*}}!invariant.load
// CHECK: load <2 x i64>, ptr @flick.costs
// CHECK: load i32, ptr %p
// CHECK: lshr i64 %{{[0-9]+}}, 21
// CHECK: lshr i64 %{{[0-9]+}}, 6
// CHECK: and i64 %{{[0-9]+}}, 1023
// CHECK: %flick.line = load i64
// CHECK: and i64 %{{[0-9]+}}, -64
// CHECK: icmp ne i64 %flick.line
// CHECK: call preserve_mostcc void @__flick_timed_access(ptr %p, i64 -9152422746242678776, i64 %{{[0-9]+}})
// CHECK: @llvm.threadlocal.address.p0(ptr @__flick_timed_clock)
// CHECK: call preserve_mostcc void @__flick_timed_full(i64 0)
// CHECK: ret i32
int pointer(int *p) { return *p; }

// (-9152422746242678776 is 0x80fc100100000008. The lowest byte is 8 for a read of 4 bytes and 9
// for a write; 1 is above it, the number of accesses that the NxP makes. The upper part says which
// load this is, and which loads its address comes from.)
// One look for several accesses to an object.
// CHECK-LABEL: @object(
// CHECK: lshr i64 %{{[0-9]+}}, 21
// CHECK-NOT: , 21
// CHECK: call preserve_mostcc void @__flick_timed_access(ptr %p, i64 -9152422746242678776, i64 %{{[0-9]+}})
// CHECK: call preserve_mostcc void @__flick_timed_access(ptr %{{.*}}, i64 -9152440338428723191, i64 %{{[0-9]+}})
// CHECK-NOT: lshr
// CHECK: ret void
void object(int *p) { p[1] = p[0]; }

// Variables of the host are of interest to profiles only: one look at the mark of all memory.
// CHECK-LABEL: @variable(
// CHECK: %flick.profiled = load i8, ptr %flick.map, {{.*}}!invariant.load
// CHECK-NOT: , 21
// CHECK: call preserve_mostcc void @__flick_timed_access(ptr %{{.*}}, i64 -9223354440373764088, i64 %{{[0-9]+}})
// CHECK: ret i32
int variable(int i) { return table[i]; }

// CHECK-LABEL: @call(
// CHECK: store <2 x i64> %[[SUM:[0-9]+]], ptr
// CHECK: %[[BEFORE:[0-9]+]] = extractelement <2 x i64> %[[SUM]], i64 0
// CHECK: call preserve_mostcc void @__flick_timed_full(i64 1)
// CHECK: call i32 @library(
// CHECK: icmp eq i64 %{{[0-9]+}}, %[[BEFORE]]
// CHECK: call void @__flick_timed_library(ptr @flick.callee{{[.0-9]*}}, i64 0, ptr {{.*}}@library)
int call(int x) { return library(x) + 1; }

void assembly(void) { __asm__ volatile("cpuid" ::: "eax", "ebx", "ecx", "edx"); }

// A function of the unit records itself.
// CHECK-LABEL: @inner(
// CHECK-NOT: __flick_timed_library
// CHECK: ret i32
__attribute__((noinline)) int other(int x) { return x ^ table[x]; }
int inner(int x) { return other(x) * 3; }

// CHECK-LABEL: @copy(
// CHECK-DAG: call void @__flick_timed_memory(ptr %to, ptr %from, i64 %n)
// CHECK-DAG: @llvm.memcpy
// CHECK: ret void
void copy(char *to, const char *from, size_t n) { memcpy(to, from, n); }

double sum(const double *p, long n) {
  double all = 0;
  for (long i = 0; i < n; i++)
    all += p[i];
  return all;
}
double two(const double *p, long n) {
  double one = 1, other = 2;
  for (long i = 0; i < n; i++) {
    double next = one * p[i] + p[i + 1];
    one = other - 1;
    other = next;
  }
  return one + other;
}
struct node {
  struct node *next;
};
void *last(struct node *p) {
  while (p->next)
    p = p->next;
  return p;
}

// A branch on data asks the predictor, and so does a call through a pointer. One that the source
// says to be unlikely does not.
// CHECK-LABEL: @branch(
// CHECK: %flick.branches = load ptr
// CHECK: zext i1
// CHECK: call { i64, i64, <2 x i64> } asm sideeffect "testq %rdi, %rdi{{.*}}movzbl 64(%rdi,%rax), %ecx{{.*}}call *40(%rdi){{.*}}paddq (%rdi,%rcx), $2{{.*}}"
// CHECK: br i1
// CHECK: call { i64, i64, <2 x i64> } asm sideeffect "testq %rdi, %rdi{{.*}}cmpb %dl, 16448(%rdi,%rax){{.*}}call *48(%rdi){{.*}}"
void branch(const int *p, void (*f)(void)) {
  if (*p)
    f();
}
// CHECK-LABEL: @unlikely(
// CHECK-NOT: flick.branches
// CHECK: ret void
void unlikely(const int *p) {
  if (__builtin_expect(*p, 0))
    library(1);
}

// Code that may use no register of SSE2 compiles, and asks nothing.
// CHECK-LABEL: @general(
// CHECK-NOT: asm sideeffect
// CHECK: ret void
__attribute__((target("general-regs-only"))) void general(const int *p) {
  if (*p)
    library(1);
}

// A run of the inner loop begins beside the end of the run before. What that saves is taken from
// the time before it: no more iterations than the window has. It is not so where the sum goes on.
// CHECK-LABEL: @rows(
// CHECK: udiv i64
// CHECK: icmp ult i64
// CHECK: load i64, ptr getelementptr inbounds (<2 x i64>, ptr @flick.runs
// CHECK: sub <2 x i64>
// CHECK: ret void
// CHECK-LABEL: @whole(
// CHECK-NOT: @flick.runs
// CHECK: ret double
void rows(double *to, const double *from, long n, long rows) {
  for (long j = 0; j < rows; j++) {
    double sum = 0;
#pragma clang loop unroll(disable)
    for (long i = 0; i < n; i++)
      sum += from[j * n + i];
    to[j] = sum;
  }
}
double whole(const double *from, long n, long rows) {
  double sum = 0;
  for (long j = 0; j < rows; j++)
#pragma clang loop unroll(disable)
    for (long i = 0; i < n; i++)
      sum += from[j * n + i];
  return sum;
}

// The size of the environment does not show in main's addresses.
// CHECK-LABEL: @main(
// CHECK: alloca i8, align 4096
int main(void) { return 0; }
