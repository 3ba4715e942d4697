// Variables of a tile share a section of this tile, page-aligned, with a record of its bounds in
// each unit. Its name is one in C. Inline variables are in groups of their own.
// RUN: %flickxx -O2 -c %s -o %t.o && llvm-readelf-19 -sSrW %t.o | FileCheck %s
// RUN: %flickxx -O2 -masm=intel -c %s -o %t.o && llvm-readelf-19 -sSrW %t.o | FileCheck %s
#include <flick.h>

// CHECK-DAG: [ [[#DATA:]]] flick_nxp_data PROGBITS {{.*}} WA 0 0 4096
// CHECK-DAG: flick_nxp_data_a PROGBITS {{.*}} WA 0 0 4096
// CHECK-DAG: flick_nxp_data_b_2dc_5fd PROGBITS {{.*}} WA 0 0 4096
// CHECK-DAG: flick_nxp_data_a PROGBITS {{.*}} WAG
// CHECK-DAG: flick_tile_data PROGBITS {{.*}} 000030 00 WAR 0 0 8
// CHECK-DAG: NOTYPE WEAK HIDDEN UND __start_flick_nxp_data_a
// CHECK-DAG: NOTYPE WEAK HIDDEN UND __stop_flick_nxp_data_b_2dc_5fd
// CHECK-DAG: OBJECT GLOBAL DEFAULT {{.*}} table
FLICK_NXP_DATA_ON("a") int table[4] = {1, 2, 3, 4};
FLICK_NXP_DATA_ON("b-c_d") int zero[100];
FLICK_NXP_DATA int plain = 1;
struct Holder {
  FLICK_NXP_DATA_ON("a") static inline int member = 3;
};
int *use(void) { return &Holder::member; }
