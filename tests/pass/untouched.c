// A unit that places nothing is byte-identical to clang's own (a marked declaration would be noted
// in `.flick.place`).
// RUN: %flick -O2 -g -c %s -o %t.a.o && %plain -O2 -g -c %s -o %t.b.o && cmp %t.a.o %t.b.o
// RUN: %flick -O0 -c %s -o %t.a.o && %plain -O0 -c %s -o %t.b.o && cmp %t.a.o %t.b.o
// RUN: echo 'nxp no_such_*' >%t.place; %flick -O2 -mllvm -flick-place=%t.place -c %s -o %t.a.o && %plain -O2 -c %s -o %t.b.o && cmp %t.a.o %t.b.o
#include <flick.h>
#include <stdio.h>
static int counter;
FLICK_HOST int stays(int x) { return counter += x; }
int main(void) { return printf("%d\n", stays(1)); }
