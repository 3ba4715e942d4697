// Placement and refusal as optimisation remarks: -Rpass=flick, -Rpass-missed=flick, and as YAML.
// RUN: printf 'nxp m*\nnxp stop*\n' >%t.place
// RUN: %flick -O1 -mllvm -flick-place=%t.place -Rpass=flick -Rpass-missed=flick -c %s -o %t.o 2>%t.err && FileCheck %s --implicit-check-not=remark: <%t.err
// RUN: %flick -O1 -mllvm -flick-place=%t.place -Rpass=flick -c %s -o %t.o 2>&1 | FileCheck %s --check-prefix=PASS
// RUN: %flick -O1 -mllvm -flick-place=%t.place -fsave-optimization-record=yaml -foptimization-record-passes=flick -foptimization-record-file=%t.yaml -c %s -o %t.r.o && FileCheck %s --check-prefix=YAML <%t.yaml
// A remark changes no code.
// RUN: %flick -O1 -mllvm -flick-place=%t.place -c %s -o %t.p.o 2>&1 | count 0 && %dis %t.o | grep -v 'file format' >%t.1 && %dis %t.p.o | grep -v 'file format' | diff %t.1 -
#include "flick.h"

// PASS: remark: {{.*}} [-Rpass=flick]
// PASS-NOT: [-Rpass-missed=flick]

// CHECK-DAG: remarks.c:[[@LINE+1]]:{{[0-9]+}}: remark: 'small' placed on both sides: inline, and NxP code calls it [-Rpass=flick]
static inline int small(int x) { return x + 1; }

// CHECK-DAG: remarks.c:[[@LINE+1]]:{{[0-9]+}}: remark: 'marked' placed on the NxP: marked in the source [-Rpass=flick]
FLICK_NXP int marked(int x) { return small(x); }

// CHECK-DAG: remarks.c:[[@LINE+1]]:{{[0-9]+}}: remark: 'matched' placed on the NxP: matches the pattern at {{.*}}.place:1 [-Rpass=flick]
int matched(int x) { return x * 3; }

// CHECK-DAG: remarks.c:[[@LINE+2]]:3: remark: 'stops' stays on the host: [FLK0202] inline assembly: the NxP does not run x86-64 instructions; move it into a FLICK_HOST function, or keep this function on the host [-Rpass-missed=flick]
int stops(int x) {
  __asm__("incl %0" : "+r"(x));
  return x;
}

// YAML-DAG: {{^}}--- !Passed{{$}}
// YAML-DAG: {{^}}Pass: {{ *}}flick{{$}}
// YAML-DAG: {{^}}Name: {{ *}}Placed{{$}}
// YAML-DAG: {{^}}  - Side: {{ *}}the NxP{{$}}
// YAML-DAG: {{^}}  - Reason: {{ *}}marked in the source{{$}}
// YAML-DAG: {{^}}--- !Missed{{$}}
// YAML-DAG: {{^}}Name: {{ *}}Refused{{$}}
// YAML-DAG: {{^}}  - Code: {{ *}}FLK0202{{$}}
