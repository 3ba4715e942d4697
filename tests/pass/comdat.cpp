// Inline functions: gate, host clone and record in the function's group, NxP code in a group of its own.
// RUN: %flickxx -O2 -S %s -o %t.s && FileCheck %s <%t.s
// RUN: %flickxx -O2 -c %s -o %t.o && llvm-readelf-19 -gW %t.o | FileCheck %s --check-prefix=GROUP
// RUN: %nxp %t.o %t.nxp && llvm-readelf-19 -gsW %t.nxp | FileCheck %s --check-prefix=NXP
// RUN: %flickxx -O0 -DSECOND -c %s -o %t.0.o && %links %t.o %t.0.o
// RUN: %flickxx -O2 -fno-addrsig -fno-integrated-as -c %s -o %t.as.o
// RUN: llvm-readelf-19 -gW %t.as.o | FileCheck %s --check-prefix=GROUP
#include <flick.h>

// CHECK-DAG: .section .text._Z6placedi,"axG",@progbits,_Z6placedi,comdat
// CHECK-DAG: .weak _Z6placedi
// CHECK-DAG: _Z6placedi:
// CHECK-DAG: .section flick_gates,"awGR",@progbits,_Z6placedi,comdat
// GROUP-LABEL: COMDAT group section {{.*}} [_Z6placedi] contains
// GROUP-DAG: {{\]}} .text.__flick_twin__Z6placedi
// GROUP-DAG: {{\]}} .text._Z6placedi
// GROUP-DAG: {{\]}} flick_gates
// NXP-DAG: COMDAT group section {{.*}} [__flick_nxp__Z6placedi]
// NXP-DAG: WEAK HIDDEN {{.*}} __flick_nxp__Z6placedi
FLICK_NXP inline int placed(int x) {
  static int calls;
  return x + ++calls;
}

// Two constructors, one code: aliases in one group.
// CHECK-DAG: .section .text._ZN3TwoIiEC2Ei,"axG",@progbits,_ZN3TwoIiEC5Ei,comdat
// CHECK-DAG: .weak _ZN3TwoIiEC1Ei
// CHECK-DAG: .set _ZN3TwoIiEC1Ei, .Lflick_gate
template <class T> struct Two {
  T n;
  FLICK_NXP Two(T n);
};
template <class T> Two<T>::Two(T n) : n(n + 1) {}
template struct Two<int>;

// A copy whose address NxP code can meet has a record, too; it goes with the group.
// CHECK-DAG: .section flick_gates,"awGR",@progbits,_Z4bothi,comdat
// GROUP-LABEL: COMDAT group section {{.*}} [_Z4bothi]
// GROUP-DAG: {{\]}} .text._Z4bothi
// GROUP-DAG: {{\]}} flick_gates
// NXP-DAG: WEAK HIDDEN {{.*}} __flick_nxp__Z4bothi
FLICK_BOTH inline int both(int x) { return x * 3; }
// A copy that only this unit's NxP code calls has none.
// GROUP-NOT: copied
// NXP-NOT: GLOBAL {{.*}} copied
inline int copied(int x) { return x * 5; }

#ifndef SECOND
#define user_of user
#else
#define user_of second
#endif
int host_user() { return placed(1) + Two<int>(2).n + both(4); }
FLICK_NXP int user_of(int x) { return copied(x) + both(x) + placed(x) + Two<int>(x).n; }
