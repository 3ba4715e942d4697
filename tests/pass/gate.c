// The gate: linkage, visibility, section, alias, CFI, record.
// RUN: %flick -O2 -S %s -o %t.s && FileCheck %s <%t.s
// RUN: %flick -O2 -c %s -o %t.o && llvm-readelf-19 -sSW %t.o | FileCheck %s --check-prefix=ELF
// RUN: %links %t.o
#include <flick.h>

// CHECK: .section .text.plain,"ax",@progbits
// CHECK-NEXT: .globl plain
// CHECK-NEXT: .p2align 4
// CHECK-NEXT: .type plain,@function
// CHECK-NEXT: plain:
// CHECK-NEXT: [[GATE:\.Lflick_gate[0-9]+]]:
// CHECK-NEXT: .cfi_startproc
// CHECK-NEXT: endbr64
// CHECK-NEXT: leaq [[RECORD:\.Lflick_record[0-9]+]](%rip), %r11
// CHECK-NEXT: jmpq *(%r11)
// CHECK-NEXT: .cfi_endproc
// CHECK: .globl other_name
// CHECK: .set other_name, [[GATE]]
// CHECK: .section flick_gates,"awR",@progbits
// CHECK: [[RECORD]]:
// CHECK-NEXT: .quad __flick_lazy
// CHECK-NEXT: .quad __flick_nxp_plain
// CHECK-NEXT: .hidden __flick_nxp_plain
// CHECK-NEXT: .quad [[GATE]]
// CHECK-NEXT: .quad __flick_twin_plain
// CHECK-NEXT: .quad .Lflick_string
// CHECK-NEXT: .quad .Lflick_string
// CHECK-NEXT: .long 5
// CHECK-NEXT: .long 0
// CHECK-NEXT: .quad __flick_code_plain
// CHECK-NEXT: .weak __flick_code_plain
// CHECK-NEXT: .hidden __flick_code_plain
FLICK_NXP int plain(int x) { return x + 1; }
int other_name(int x) __attribute__((alias("plain")));

// CHECK: .weak weakling
FLICK_NXP __attribute__((weak)) int weakling(int x) { return x + 2; }
// CHECK: .hidden concealed
FLICK_NXP __attribute__((visibility("hidden"))) int concealed(int x) { return x + 3; }
// CHECK: .protected guarded
FLICK_NXP __attribute__((visibility("protected"))) int guarded(int x) { return x + 4; }
// CHECK: .section corner,"ax",@progbits
// CHECK: cornered:
FLICK_NXP __attribute__((section("corner"))) int cornered(int x) { return x + 5; }

// CHECK: .section flick_units,"awR",@progbits
// CHECK: .hidden flick_object__link_it_with_flick_cc__see_flick_explain_FLK0301

// The host never looks through the gate.
// CHECK-LABEL: caller:
// CHECK: {{jmp|callq}} plain
int caller(void) { return plain(1); }

// ELF-DAG: flick_gates PROGBITS {{.*}} WAR
// ELF-DAG: flick_units PROGBITS {{.*}} WAR
// ELF-DAG: .flick.nxp PROGBITS {{.*}} E 0 0 16
// ELF-DAG: .flick.place PROGBITS
// ELF-DAG: FUNC GLOBAL DEFAULT {{.*}} plain{{$}}
// ELF-DAG: FUNC GLOBAL DEFAULT {{.*}} other_name{{$}}
// ELF-DAG: FUNC WEAK DEFAULT {{.*}} weakling{{$}}
// ELF-DAG: FUNC GLOBAL HIDDEN {{.*}} concealed{{$}}
// ELF-DAG: FUNC LOCAL DEFAULT {{.*}} __flick_twin_plain{{$}}
