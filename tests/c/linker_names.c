// Variables of the program with names that linkers define if nobody else does, and the linker's own
// symbols: NxP code sees the host's.
// OUT: 30
// OUT: 1 1 1 1
// CROSSINGS: host-to-nxp=2
#include <flick.h>
#include <stdio.h>

int end = 10, edata = 20;
extern char etext, __executable_start, __bss_start;
__attribute__((visibility("hidden"))) extern char __dso_handle;

FLICK_NXP static int sum(void) { return end + edata; }
FLICK_NXP static void look(const char **to) {
  to[0] = &etext;
  to[1] = &__executable_start;
  to[2] = &__bss_start;
  to[3] = &__dso_handle;
}

int main(void) {
  printf("%d\n", sum());
  const char *seen[4];
  look(seen);
  printf("%d %d %d %d\n", seen[0] == &etext, seen[1] == &__executable_start,
         seen[2] == &__bss_start, seen[3] == &__dso_handle);
}
