// A function with a name that LLVM knows is not compiled to a call of itself, on either side, also if the name
// is an alias's or a label's; and what the program defines is not believed to do what the library's does.
// RUN: %flick -O2 -fno-inline -S -emit-llvm %s -o %t.ll && FileCheck %s -input-file=%t.ll
// RUN: %flick -O2 -c %s -o %t.o && %dis %t.o | FileCheck %s --check-prefix=NXP
// RUN: %flick -O2 -c %s -o %t.o && llvm-objdump-19 -dr %t.o | FileCheck %s --check-prefix=HOST

// Every name, defined and placed: each host clone has its guard. Allocators stay on the host.
// RUN: %known %t.known && grep -vxE '(m|c|re|v|pv)alloc|free|aligned_alloc|memalign|posix_memalign|reallocarray|strn?dup' %t.known >%t.names
// RUN: sed 's/.*/void own_&(void) __asm__("&"); void own_&(void) { side(); }/; 1i void side(void);' %t.names >%t.all.c
// RUN: %flick -O2 -S -emit-llvm -mllvm -flick-random=1:100 %t.all.c -o %t.all.ll
// RUN: grep -o 'no-builtin-[^"]*' %t.all.ll | sed 's/no-builtin-//' | sort -u | diff %t.names -
#include <flick.h>

// NXP-LABEL: <__flick_nxp_memset>:
// NXP-NOT: R_RISCV_CALL_PLT
// NXP: ret
// HOST-LABEL: <__flick_twin_memset>:
// HOST-NOT: R_X86_64_PLT32
// HOST: retq
FLICK_NXP void *memset(void *to, int c, size_t n) {
  char *a = to;
  while (n--)
    *a++ = (char)c;
  return to;
}

// NXP-LABEL: <__flick_nxp_copy>:
// NXP-NOT: R_RISCV_CALL_PLT
// NXP: ret
// HOST-LABEL: <__flick_twin_copy>:
// HOST-NOT: R_X86_64_PLT32
// HOST: retq
FLICK_NXP void *copy(void *restrict to, const void *restrict from, size_t n) {
  char *a = to;
  const char *b = from;
  while (n--)
    *a++ = *b++;
  return to;
}
void *memcpy(void *restrict to, const void *restrict from, size_t n) __attribute__((alias("copy")));

// NXP-LABEL: <__flick_nxp_strlen>:
// HOST-LABEL: <__flick_twin_strlen>:
size_t labelled(const char *text) __asm__("strlen");
FLICK_NXP size_t labelled(const char *text) {
  size_t n = 0;
  while (text[n])
    ++n;
  return n;
}

// CHECK-LABEL: define {{.*}}@host(
// CHECK: call {{.*}}@atoi(
// CHECK: call {{.*}}@atoi(
// CHECK: declare {{.*}}i32 @atoi(ptr{{.*}}) {{.*}}[[A:#[0-9]+]]
// CHECK-NOT: attributes [[A]] = {{.*}}memory(
// CHECK: attributes [[A]] =
int writes;
FLICK_NXP int atoi(const char *text) { return writes += *text; }
int host(const char *text) { return atoi(text) + atoi(text); }
