// FLICK_NXP_DATA variables share one writable, page-aligned section.
// RUN: %flick -O2 -c %s -o %t.o && llvm-readelf-19 -sSW %t.o | FileCheck %s
// RUN: %flick -O2 -fcommon -c %s -o %t.o && llvm-readelf-19 -sSW %t.o | FileCheck %s
#include <flick.h>

// CHECK: [ [[#INDEX:]]] flick_nxp_data PROGBITS {{.*}} WA 0 0 4096
// CHECK-DAG: OBJECT GLOBAL DEFAULT [[#INDEX]] table
// CHECK-DAG: OBJECT GLOBAL DEFAULT [[#INDEX]] zero
// CHECK-DAG: OBJECT GLOBAL DEFAULT [[#INDEX]] fixed
FLICK_NXP_DATA int table[4] = {1, 2, 3, 4};
FLICK_NXP_DATA int zero[100];
FLICK_NXP_DATA const int fixed[2] = {5, 6};
