// The first program: an NxP function calls printf on the host. Expects one line and one call in
// each direction.
// OUT: hello, world
// CROSSINGS: host-to-nxp=1 nxp-to-host=1
#include <flick.h>
#include <stdio.h>

FLICK_NXP void hello(const char *name) { printf("hello, %s\n", name); }

int main(void) { hello("world"); }
