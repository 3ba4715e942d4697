// One table holds host and NxP functions; both sides call every entry, so that each call may stay
// or cross.
// OUT: 12 18 16 36
// OUT: 12 18 16 36
// CROSSINGS: host-to-nxp=3 nxp-to-host=2
#include <flick.h>
#include <stdio.h>

FLICK_HOST static int h1(int x) { return x + 2; }
FLICK_NXP static int n1(int x) { return x + 8; }
FLICK_HOST static int h2(int x) { return x + 6; }
FLICK_NXP static int n2(int x) { return x * 3 + 6; }

static int (*const table[])(int) = {h1, n1, h2, n2};

FLICK_NXP static void nxp_all(int out[4]) {
  for (int i = 0; i < 4; i++)
    out[i] = table[i](10);
}
static void host_all(int out[4]) {
  for (int i = 0; i < 4; i++)
    out[i] = table[i](10);
}

int main(void) {
  int a[4], b[4];
  host_all(a);
  nxp_all(b);
  printf("%d %d %d %d\n%d %d %d %d\n", a[0], a[1], a[2], a[3], b[0], b[1], b[2], b[3]);
}
