// The program's own memcpy and strlen stay loops on the NxP.
// RUN: %flick -O2 -c %s -o %t.o && %dis %t.o | FileCheck %s
#include <flick.h>

// CHECK-LABEL: <__flick_nxp_memcpy>:
// CHECK-NOT: R_RISCV_CALL_PLT
// CHECK-LABEL: <__flick_nxp_memset>:
FLICK_NXP void *memcpy(void *restrict to, const void *restrict from, size_t n) {
  char *a = to;
  const char *b = from;
  while (n--)
    *a++ = *b++;
  return to;
}
// CHECK-NOT: R_RISCV_CALL_PLT
FLICK_NXP void *memset(void *to, int c, size_t n) {
  char *a = to;
  while (n--)
    *a++ = (char)c;
  return to;
}
