// Random placement depends on the name and the seed alone.
// RUN: %flick -O1 -mllvm -flick-random=11:50 -c %s -o %t.1.o && %places %t.1.o | grep random | cut -f3 >%t.1
// RUN: %flick -O0 -DMORE -mllvm -flick-random=11:50 -c %s -o %t.2.o && %places %t.2.o | grep random | cut -f3 | grep -v more >%t.2
// RUN: %flick -O1 -mllvm -flick-random=12:50 -c %s -o %t.3.o && %places %t.3.o | grep random | cut -f3 >%t.3
// RUN: test -s %t.1 && cmp %t.1 %t.2 && not cmp -s %t.1 %t.3
// RUN: %flick -O1 -mllvm -flick-random=11:100 -c %s -o %t.o && test $(%places %t.o | cut -f5 | grep -c random) = 16
// What is always inlined is not chosen: NxP code has it by inlining, host code too.
// RUN: %places %t.o | grep -P "\talways\tboth\tinline"
// RUN: %flick -O1 -mllvm -flick-random=11:0 -c %s -o %t.o && %plain -O1 -c %s -o %t.p.o && cmp %t.o %t.p.o
// RUN: %flick -O1 -mllvm -flick-random=11:50 -c %s -o %t.again.o && cmp %t.1.o %t.again.o
#ifdef MORE
int more(int x) { return x; }
#endif
int ext(int);
__attribute__((always_inline)) static inline int always(int x) { return x; }
#define F(N) int f##N(int x) { return ext(always(x)) + N; }
F(1) F(2) F(3) F(4) F(5) F(6) F(7) F(8) F(9) F(10) F(11) F(12) F(13) F(14) F(15)
int main(void) { return f1(1); }
