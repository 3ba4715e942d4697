// The fat header, its checksum, and the unit record that names it.
// RUN: %flick -O2 -c %s -o %t.o && llvm-objcopy-19 --dump-section=.flick.nxp=%t.nxp --dump-section=flick_units=%t.units %t.o /dev/null
// RUN: od -An -c -N8 %t.nxp | tr -d ' ' | grep -x 'FLKNXP1\\0'
// RUN: test "$(od -An -tu4 -j8 -N8 %t.nxp | tr -s ' ')" = " 65546 32"
// RUN: test $(($(od -An -tu8 -j16 -N8 %t.nxp) + 32)) = $(stat -c %%s %t.nxp)
// RUN: test "$(od -An -tx8 -j24 -N8 %t.nxp)" = "$(od -An -tx8 -N8 %t.units)"
// RUN: not clang-19 %t.o -nostartfiles -o %t.exe 2>%t.err; FileCheck %s <%t.err
// CHECK: flick_object__link_it_with_flick_cc__see_flick_explain_FLK0301
// RUN: ld -r %t.o -o %t.r.o; llvm-readelf-19 -SW %t.r.o | grep 'flick_gates.*WAR'
__attribute__((annotate("flick.nxp"))) int placed(int x) { return x * 2; }
