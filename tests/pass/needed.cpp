// What only NxP code needs of the host half's inline definitions stays there.
// RUN: %flickxx -O2 -c %s -o %t.o && llvm-readelf-19 -sW %t.o | FileCheck %s
// RUN: %links %t.o
#include <flick.h>

// Its assembly keeps it on the host, and the host half inlines it.
// CHECK-DAG: FUNC WEAK DEFAULT {{[0-9]+}} _Z7checkedi
inline int checked(int x) {
  __asm__("incl %0" : "+r"(x));
  return x;
}
// CHECK-DAG: OBJECT WEAK DEFAULT {{[0-9]+}} limits
inline int limits[4] = {1, 2, 3, 4};

FLICK_NXP int user(int x) { return checked(x) + limits[x & 3]; }
