// A shared library with an image, and a program with its own: calls in both directions, callbacks,
// a variable of the library used by the program's NxP code, one address for each function.
// SKIP-MODE: static a static program has no shared library
// OUT: library 20 program 21
// OUT: 1 1 1
// OUT: 111 1 42
// STEP: cc -shared -fPIC library.c -o liblibrary.so
// STEP: link main.c -L. -llibrary -Wl,-rpath,$ORIGIN
#include "library.h"
#include <flick.h>
#include <stdio.h>

FLICK_NXP static int on_event(int x) { return x * 2 + 1; }
FLICK_NXP static int drive(int x) { return library_call(on_event, x) + library_value; }
FLICK_NXP static int same(void) {
  return library_address() == library_nxp && library_nxp(1) == library_host(1);
}

int main(void) {
  printf("library %d program %d\n", library_call(on_event, 6), drive(6));
  printf("%d %d %d\n", library_address() == library_nxp, same(), library_is_own(on_event) == 0);
  library_value = 100;
  int a = drive(3), b = library_nxp(0), c = library_host(41);
  printf("%d %d %d\n", a, b, c);
}
