// What LLVM knows of the C library holds for NxP code as for the host's: no calls where clang makes none, and
// the calls that are left or made anew cross with the host's signatures.
// RUN: %flick -O2 -c %s -o %t.o && %dis %t.o | FileCheck %s
// RUN: %links %t.o
// RUN: %flick -O0 -c %s -o %t.0.o && %links %t.0.o

// Every function that LLVM knows and the host's libraries have, but those of long double, is called by the
// programs of the corpus that compare with plain clang.
// RUN: %known %t.known
// RUN: for l in libc.so.6 libm.so.6 libstdc++.so.6; do nm -D --defined-only $(%plain -print-file-name=$l); done | sed -n 's/.* \(.*\)@@.*/\1/p' | sort -u >%t.host
// RUN: comm -12 %t.known %t.host | grep -vxE 'gets|strtold' | awk '{n[$0]} END {for (i in n) {b = i; if (!(sub(/l$/, "", b) && (b in n) && (b "f" in n))) print i}}' | sort >%t.wanted
// RUN: for f in %S/../c/library_*.c %S/../cpp/library_*.cpp; do %plain -w -D_GNU_SOURCE -O0 -fno-builtin -c $f -o %t.u.o && nm -u %t.u.o; done | awk '{print $2}' | sort -u >%t.called
// RUN: test $(wc -l <%t.wanted) -gt 290 && comm -23 %t.wanted %t.called | not grep .
#include <flick.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// CHECK-LABEL: <__flick_nxp_square>:
// CHECK-NOT: R_RISCV_CALL_PLT
// CHECK: fmul.d
// CHECK: ret
FLICK_NXP double square(double x) { return pow(x, 2.0); }

// CHECK-LABEL: <__flick_nxp_constants>:
// CHECK-NOT: R_RISCV
// CHECK: ret
FLICK_NXP int constants(void) { return strcmp("abc", "abd") + (int)strlen("four") + atoi("12") + abs(-3); }

// CHECK-LABEL: <__flick_nxp_copies>:
// CHECK-NOT: R_RISCV_CALL_PLT
// CHECK: ret
FLICK_NXP void copies(char *to) {
  strcpy(to, "abc");
  sprintf(to + 8, "%s", "d");
}

// CHECK-LABEL: <__flick_nxp_prints>:
// CHECK: R_RISCV_CALL_PLT __flick_call_puts
// CHECK: R_RISCV_CALL_PLT __flick_call_putchar
// CHECK-NOT: printf
FLICK_NXP void prints(void) {
  printf("a line\n");
  printf("x");
}

// CHECK-LABEL: <__flick_nxp_zeros>:
// CHECK: R_RISCV_CALL_PLT __flick_call___flick_heap_calloc
// CHECK-NOT: R_RISCV_CALL_PLT
FLICK_NXP void *zeros(void) {
  void *p = malloc(4000);
  memset(p, 0, 4000);
  return p;
}

// A float result needs the crossing, which boxes it.
// CHECK-LABEL: <__flick_nxp_shrinks>:
// CHECK: R_RISCV_GOT_HI20 floorf_only_on_host
// CHECK: __flick_stub_
FLICK_NXP float shrinks(float x) {
  float floorf_only_on_host(float);
  return floorf_only_on_host(x) + (float)sqrt((double)fabsf(x));
}

// CHECK-LABEL: <__flick_nxp_exponents>:
// CHECK: R_RISCV_CALL_PLT __flick_call_exp2
// CHECK: R_RISCV_GOT_HI20 exp2f
// CHECK: __flick_stub_
FLICK_NXP double exponents(double x, float y) { return pow(2.0, x) + (double)powf(2.0f, y); }

// A pointer that leads to a library's function is one, too.
// CHECK-LABEL: <__flick_nxp_by_pointer>:
// CHECK-NOT: R_RISCV_CALL_PLT
// CHECK: ret
FLICK_NXP size_t by_pointer(void) {
  size_t (*length)(const char *) = strlen;
  return length("by pointer");
}

// sqrt computes in place, and calls only for its errno.
// CHECK-LABEL: <__flick_nxp_roots>:
// CHECK: fsqrt.d
FLICK_NXP double roots(double x) { return sqrt(x); }

// CHECK-LABEL: <__flick_nxp_kept>:
// CHECK: R_RISCV_CALL_PLT __flick_call_strlen
__attribute__((no_builtin)) FLICK_NXP size_t kept(void) { return strlen("kept"); }

void elsewhere(int);
// A variable that is only a copy of a constant is the constant, as for clang.
// CHECK-LABEL: <__flick_nxp_copied>:
// CHECK-NOT: strcmp
// CHECK: ret
FLICK_NXP int copied(int n) {
  char a[31], b[31];
  int all = 0;
  strcpy(a, "DHRYSTONE PROGRAM, 1'ST STRING");
  for (int i = 0; i < n; i++) {
    strcpy(b, "DHRYSTONE PROGRAM, 2'ND STRING");
    all += strcmp(a, b) < 0;
    elsewhere(n);
  }
  return all;
}
