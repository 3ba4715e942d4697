// A host function that only jumps through a global function pointer (with -O2 `jmp *hook(%rip)`,
// which looks like a PLT entry), called from NxP code while the pointer changes.
// OUT: 11 12 13 11
#include "flick.h"
#include <stdio.h>

static int (*hook)(int);
FLICK_HOST __attribute__((noinline)) static int call_hook(int x) { return hook(x); }
FLICK_NXP static int n1(int x) { return x + 1; }
FLICK_NXP static int n2(int x) { return x + 2; }
FLICK_HOST static int h3(int x) { return x + 3; }
FLICK_NXP static int go(int x) { return call_hook(x); }

int main(void) {
  int (*const all[])(int) = {n1, n2, h3, n1};
  int got[4];
  for (int i = 0; i < 4; ++i) {
    hook = all[i];
    got[i] = go(10);
  }
  printf("%d %d %d %d\n", got[0], got[1], got[2], got[3]);
  return 0;
}
