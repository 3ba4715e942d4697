// The address of a function is one on both sides, whether taken in code or in data, for host, NxP,
// both-sided and library functions. Expects every comparison to hold.
// OUT: 1 1 1 1
// OUT: 1 1 1 1
// OUT: 1 1 1 0
#include <flick.h>
#include <stdio.h>
#include <stdlib.h>

typedef void (*any)(void);

FLICK_HOST static int host(int x) { return x; }
FLICK_NXP int nxp(int x) { return x + 1; }
FLICK_NXP static int nxp_static(int x) { return x + 2; }
FLICK_BOTH int both(int x) { return x + 3; }

static const any in_data[] = {(any)host, (any)nxp, (any)nxp_static, (any)both};

FLICK_NXP static any nxp_takes(int which) {
  switch (which) {
  case 0:
    return (any)host;
  case 1:
    return (any)nxp;
  case 2:
    return (any)nxp_static;
  case 3:
    return (any)both;
  }
  return (any)abs;
}
FLICK_NXP static int nxp_same(int (*f)(int), int which) { return (any)f == nxp_takes(which); }

int main(void) {
  any volatile taken[] = {(any)host, (any)nxp, (any)nxp_static, (any)both};
  for (int i = 0; i < 4; i++)
    printf("%d%c", nxp_takes(i) == taken[i] && taken[i] == in_data[i], i < 3 ? ' ' : '\n');
  printf("%d %d %d %d\n", nxp_same(host, 0), nxp_same(nxp, 1), nxp_same(nxp_static, 2),
         nxp_same(both, 3));
  printf("%d %d %d %d\n", nxp_takes(4) == (any)abs, nxp_same(abs, 4), taken[1] != taken[2],
         nxp_same(nxp, 2));
}
