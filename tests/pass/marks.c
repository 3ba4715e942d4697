// Marks that contradict each other or stand in the wrong place.
// RUN: not %flick -O1 -c %s -o %t.o 2>%t.err; FileCheck %s <%t.err
#include <flick.h>

// CHECK-DAG: marks.c:[[#@LINE+1]]:{{.*}}error: [FLK0201] contradictory placement of 'torn': it is marked FLICK_NXP and FLICK_HOST
FLICK_NXP FLICK_HOST int torn(void) { return 1; }
// CHECK-DAG: marks.c:[[#@LINE+2]]:{{.*}}error: [FLK0201] {{.*}}'redeclared': it is marked FLICK_NXP and FLICK_BOTH
FLICK_BOTH int redeclared(void);
FLICK_NXP int redeclared(void) { return 1; }
// CHECK-DAG: marks.c:[[#@LINE+1]]:{{.*}}error: [FLK0214] FLICK_NXP_DATA cannot hold 'local': it is thread-local
FLICK_NXP_DATA __thread int local;
// CHECK-DAG: marks.c:[[#@LINE+1]]:{{.*}}error: [FLK0214] FLICK_NXP_DATA cannot hold 'cornered': it has a section of its own
FLICK_NXP_DATA __attribute__((section("corner"))) int cornered;
// CHECK-DAG: marks.c:[[#@LINE+1]]:{{.*}}error: [FLK0214] FLICK_NXP marks the variable 'variable'
FLICK_NXP int variable;
// CHECK-DAG: marks.c:[[#@LINE+1]]:{{.*}}error: [FLK0214] FLICK_NXP_DATA marks the function 'function'
FLICK_NXP_DATA int function(void) { return 1; }
// CHECK-DAG: marks.c:[[#@LINE+1]]:{{.*}}error: [FLK0214] a Flick mark on a local variable
int automatic(void) { FLICK_NXP_DATA int x = 1; return x; }
