// A preloaded library replaces a function of a library that is on the NxP, for callers on both
// sides, and one of libc that NxP code calls. As with clang alone, only -fsemantic-interposition
// promises this for calls inside one unit.
// SKIP-MODE: static a static program has no shared library
// STEP: cc -shared -fsemantic-interposition library.c -o libsteps.so
// STEP: cc -shared -fno-builtin hook.c -o libhook.so -ldl
// STEP: link main.c -fno-builtin -L. -lsteps -Wl,-rpath,$ORIGIN
// ENV: LD_PRELOAD=./libhook.so
#include <flick.h>
#include <stdio.h>

int step(int), twice(int), host_twice(int);

FLICK_NXP static int from_nxp(int x) {
  puts("on the NxP");
  return step(x) + twice(x);
}

int main(void) {
  printf("%d %d %d\n", step(1), twice(1), host_twice(1));
  printf("%d\n", from_nxp(1));
  puts("done");
}
