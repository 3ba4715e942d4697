// A shared library with two versions of one symbol, both of them NxP functions: the program's link
// gets the default one, dlvsym either; NxP code of the program calls both through pointers.
// SKIP-MODE: static a static program has no shared library
// STEP: cc -c -fPIC library.c -o library.o
// STEP: cc -shared library.o -Xlinker --version-script -Xlinker versions.map -o libversions.so
// STEP: link main.c -L. -lversions -Wl,-rpath,$ORIGIN -ldl
#define _GNU_SOURCE
#include <dlfcn.h>
#include <flick.h>
#include <stdio.h>

int value(int);
int other(int);

typedef int function(int);
FLICK_NXP static int difference(function *a, function *b, int x) { return a(x) - b(x) + value(x); }

int main(void) {
  function *old = (function *)dlvsym(RTLD_DEFAULT, "value", "V1");
  function *new = (function *)dlvsym(RTLD_DEFAULT, "value", "V2");
  if (!old || !new) {
    printf("%s\n", dlerror());
    return 1;
  }
  printf("%d %d %d\n", value(4), old(4), new (4));
  printf("%d %d\n", other(5), difference(old, new, 6));
  printf("%d %d\n", old == value, new == value);
}
