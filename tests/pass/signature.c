// Signature texts and the GATE_PLAIN flag (4) of gate records.
// RUN: %flick -O2 -S %s -o %t.s && FileCheck %s <%t.s
// RUN: %flick -O2 -c %s -o %t.o && %links %t.o
#include <flick.h>
#include <stdbool.h>

struct two { long a; double b; };
struct floats3 { float a; long b; };
struct big { long a[3]; };
struct over { int a[8] __attribute__((aligned(32))); };
struct point { float x, y; };
typedef int four __attribute__((vector_size(16)));
typedef __int128 wide;

// CHECK: .quad __flick_twin_ints
// CHECK-NEXT: .quad
// CHECK-NEXT: .quad [[INTS:.Lflick_string[0-9]+]]
// CHECK-NEXT: .long 5
FLICK_NXP int ints(bool b, signed char c, short s, int i, long l, void *p) { return b + c + s + i + (p != 0) + (int)l; }
// CHECK: .quad __flick_twin_seven
// CHECK-NEXT: .quad
// CHECK-NEXT: .quad [[SEVEN:.Lflick_string[0-9]+]]
// CHECK-NEXT: .long 1
FLICK_NXP long seven(long a, long b, long c, long d, long e, long f, long g) { return a + b + c + d + e + f + g; }
// CHECK: .quad __flick_twin_doubles
// CHECK-NEXT: .quad
// CHECK-NEXT: .quad [[DOUBLES:.Lflick_string[0-9]+]]
// CHECK-NEXT: .long 5
FLICK_NXP double doubles(double a, double b, double c, double d, double e, double f, double g, double h) { return a + b + c + d + e + f + g + h; }
// CHECK: .quad __flick_twin_floating
// CHECK-NEXT: .quad
// CHECK-NEXT: .quad [[FLOATING:.Lflick_string[0-9]+]]
// CHECK-NEXT: .long 1
FLICK_NXP float floating(float a) { return a; }
// CHECK: .quad __flick_twin_float_result
// CHECK-NEXT: .quad
// CHECK-NEXT: .quad [[RESULT:.Lflick_string[0-9]+]]
// CHECK-NEXT: .long 5
FLICK_NXP float float_result(double a) { return (float)a; }
// CHECK: .quad __flick_twin_parts
// CHECK-NEXT: .quad
// CHECK-NEXT: .quad [[PARTS:.Lflick_string[0-9]+]]
// CHECK-NEXT: .long 5
FLICK_NXP struct two parts(struct two x) { return x; }
// CHECK: .quad __flick_twin_memory
// CHECK-NEXT: .quad
// CHECK-NEXT: .quad [[MEMORY:.Lflick_string[0-9]+]]
// CHECK-NEXT: .long 1
FLICK_NXP struct big memory(struct big x, int i) { x.a[0] += i; return x; }
// CHECK: .quad __flick_twin_aligned
// CHECK-NEXT: .quad
// CHECK-NEXT: .quad [[ALIGNED:.Lflick_string[0-9]+]]
// CHECK-NEXT: .long 1
FLICK_NXP int aligned(struct over x) { return x.a[1]; }
// CHECK: .quad __flick_twin_nothing
// CHECK-NEXT: .quad
// CHECK-NEXT: .quad [[NOTHING:.Lflick_string[0-9]+]]
// CHECK-NEXT: .long 5
FLICK_NXP void nothing(void) {}
// CHECK: .quad __flick_twin_pairs
// CHECK-NEXT: .quad
// CHECK-NEXT: .quad [[PAIRS:.Lflick_string[0-9]+]]
// CHECK-NEXT: .long 5
FLICK_NXP struct point pairs(struct point x, double y) { x.y += y; return x; }
// CHECK: .quad __flick_twin_vectors
// CHECK-NEXT: .quad
// CHECK-NEXT: .quad [[VECTORS:.Lflick_string[0-9]+]]
// CHECK-NEXT: .long 1
FLICK_NXP four vectors(four x, struct point y) { return x + (int)y.x; }
// CHECK: .quad __flick_twin_halves
// CHECK-NEXT: .quad
// CHECK-NEXT: .quad [[HALVES:.Lflick_string[0-9]+]]
// CHECK-NEXT: .long 1
FLICK_NXP _Float16 halves(_Float16 _Complex x, _Float16 y) { return __real__ x + y; }
// CHECK: .quad __flick_twin_wides
// CHECK-NEXT: .quad
// CHECK-NEXT: .quad [[WIDES:.Lflick_string[0-9]+]]
// CHECK-NEXT: .long 5
FLICK_NXP wide wides(wide x, wide y) { return x - y; }
// CHECK: .quad __flick_twin_late
// CHECK-NEXT: .quad
// CHECK-NEXT: .quad [[LATE:.Lflick_string[0-9]+]]
// CHECK-NEXT: .long 1
FLICK_NXP long late(wide x, wide y, int k, wide z) { return (long)(x + y + z) + k; }
// CHECK: .quad __flick_twin_dots
// CHECK-NEXT: .quad
// CHECK-NEXT: .quad [[DOTS:.Lflick_string[0-9]+]]
// CHECK-NEXT: .long 9
FLICK_NXP int dots(int n, ...) { return n; }

// CHECK: .section .rodata.str1.1,"aMS",@progbits,1
// CHECK: [[INTS]]:
// CHECK-NEXT: .ascii "1i(bcsilp)"
// CHECK: [[SEVEN]]:
// CHECK-NEXT: .ascii "1l(lllllll)"
// CHECK: [[DOUBLES]]:
// CHECK-NEXT: .ascii "1d(dddddddd)"
// CHECK: [[FLOATING]]:
// CHECK-NEXT: .ascii "1f(f)"
// CHECK: [[RESULT]]:
// CHECK-NEXT: .ascii "1f(d)"
// CHECK: [[PARTS]]:
// CHECK-NEXT: .ascii "1{ld}(ld)"
// CHECK: [[MEMORY]]:
// CHECK-NEXT: .ascii "1v(SB24a8i)"
// CHECK: [[ALIGNED]]:
// CHECK-NEXT: .ascii "1i(B32a32)"
// CHECK: [[NOTHING]]:
// CHECK-NEXT: .ascii "1v()"
// CHECK: [[PAIRS]]:
// CHECK-NEXT: .ascii "1e(ed)"
// CHECK: [[VECTORS]]:
// CHECK-NEXT: .ascii "1V(Ve)"
// CHECK: [[HALVES]]:
// CHECK-NEXT: .ascii "1f(gf)"
// CHECK: [[WIDES]]:
// CHECK-NEXT: .ascii "1{ll}(llll)"
// CHECK: [[LATE]]:
// CHECK-NEXT: .ascii "1l(llllix)"
// CHECK: [[DOTS]]:
// CHECK-NEXT: .ascii "1i(i.)"
