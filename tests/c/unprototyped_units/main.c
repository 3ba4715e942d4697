// Calls without a prototype over units, by name and through pointers, with integers, pointers and
// doubles; of what has a prototype where it is defined, of K&R definitions, of host functions and
// the C library's. NxP code reaches NxP code without the host; a variadic function, called without
// further arguments, still finds that it has none.
// OUT: 1 2.5 x 7 -7.5
// OUT: 1 2.5 x 7 -7.5
// OUT: 100000
// OUT: host 8 -0.5
// OUT: dots dots
// OUT: 6 doubles 21
// OUT: many 36
// CFLAGS: -Wno-deprecated-non-prototype -Wno-strict-prototypes -Wno-old-style-definition
// CROSSINGS: host-to-nxp=5 nxp-to-host>=10
#include <flick.h>
#include <stdio.h>

int mixed(), knr(), add(), dotted(const char *, ...), many();
double on_host(), doubles();

int (*volatile pointers[])() = {mixed, knr};
int (*volatile dots)(const char *, ...) = dotted;

FLICK_NXP void by_name(void) {
  mixed(1, 2.5, "x", 7L, -7.5f);
  knr(1, 2.5, "x", 7L, -7.5f);
}

FLICK_NXP void by_pointer(void) {
  int sum = 0;
  for (int i = 0; i < 100000; i++)
    sum = add(sum, 1);
  printf("%d\n", sum);
  for (int i = 0; i < 2; i++)
    sum += pointers[i](1, 2.5, 0, 7L, -7.5f);
}

FLICK_NXP void others(void) {
  printf("host %d %g\n", (int)on_host(4, 0.25, 4), on_host(0, -0.5, 1));
  dotted("dots ");
  dots("dots\n");
  printf("6 doubles %g\n", doubles(1.0, 2.0, 3.0, 4.0, 5.0, 6.0));
  printf("many %d\n", many(1, 2, 3, 4, 5, 6, 7, 8));
}

FLICK_HOST double on_host(int a, double b, int c) { return b < 0 ? b : a + c; }

int main(void) {
  by_name();
  by_pointer();
  others();
}
