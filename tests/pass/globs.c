// Placement files: names, globs, later lines win, marks win over all.
// RUN: cd %S && printf '# comment\nnxp alpha_*\nhost alpha_two # not this one\n\nboth  b?ta\nnxp [gd]amma\nnxp marked_host\nnxp nowhere\n' >%t.place
// RUN: %flick -O1 -mllvm -flick-place=%t.place -c globs.c -o %t.o && %places %t.o | tr '\t' '|' | FileCheck globs.c
// RUN: %links %t.o
#include <flick.h>

int ext(int);
// CHECK-DAG: v1|globs.c|alpha_one|nxp|glob:{{.*}}globs.c.tmp.place:2||globs.c|
int alpha_one(int x) { return ext(x) + 1; }
// CHECK-DAG: v1|globs.c|alpha_two|host|name:{{.*}}globs.c.tmp.place:3||globs.c|
int alpha_two(int x) { return ext(x) + 2; }
// CHECK-DAG: v1|globs.c|beta|both|glob:{{.*}}globs.c.tmp.place:5||globs.c|
int beta(int x) { return ext(x) + 3; }
// CHECK-DAG: v1|globs.c|gamma|nxp|glob:{{.*}}globs.c.tmp.place:6||globs.c|
int gamma(int x) { return ext(x) + 4; }
// CHECK-DAG: v1|globs.c|marked_host|host|mark||globs.c|[[#@LINE+1]]
FLICK_HOST int marked_host(int x) { return ext(x) + 5; }
// CHECK-DAG: v1|globs.c|marked|nxp|mark||globs.c|[[#@LINE+1]]
FLICK_NXP int marked(int x) { return ext(x) + 6; }
int nobody(int x) { return ext(x) + 7; }
// CHECK-DAG: v1|globs.c|-|match|{{.*}}globs.c.tmp.place:2
// CHECK-DAG: v1|globs.c|-|match|{{.*}}globs.c.tmp.place:3
// CHECK-DAG: v1|globs.c|-|match|{{.*}}globs.c.tmp.place:7

// RUN: %places %t.o | not grep -e nobody -e place:8

// RUN: printf 'nxp\nfoo bar\nnxp a b\nnxp [z\n' >%t.bad; not %flick -O1 -mllvm -flick-place=%t.bad -c globs.c -o %t.o 2>%t.err; FileCheck globs.c --check-prefix=BAD <%t.err
// BAD: error: [FLK0209] {{.*}}globs.c.tmp.bad:1: expected one pattern after 'nxp'
// BAD: error: [FLK0209] {{.*}}globs.c.tmp.bad:2: unknown placement 'foo'
// BAD: error: [FLK0209] {{.*}}globs.c.tmp.bad:3: expected one pattern
// BAD: error: [FLK0209] {{.*}}globs.c.tmp.bad:4: bad pattern '[z'
// RUN: not %flick -O1 -mllvm -flick-place=%t.absent -c globs.c -o %t.o 2>%t.err; FileCheck globs.c --check-prefix=ABSENT <%t.err
// ABSENT: error: [FLK0105] {{.*}}globs.c.tmp.absent: the placement file cannot be read
// RUN: not %flick -O1 -mllvm -flick-random=1 -c globs.c -o %t.o 2>%t.err; FileCheck globs.c --check-prefix=SEED <%t.err
// RUN: not %flick -O1 -mllvm -flick-random=1:101 -c globs.c -o %t.o 2>%t.err; FileCheck globs.c --check-prefix=SEED <%t.err
// SEED: error: [FLK0104] -flick-random=1
