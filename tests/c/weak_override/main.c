// Weak functions of one unit overridden by strong ones of another, in all four combinations of
// sides, called by name and through pointers on both sides.
#include <flick.h>
#include <stdio.h>

__attribute__((weak)) FLICK_NXP int nxp_by_nxp(int x) { return x - 1; }
__attribute__((weak)) FLICK_NXP int nxp_by_host(int x) { return x - 2; }
__attribute__((weak)) FLICK_HOST int host_by_nxp(int x) { return x - 3; }
__attribute__((weak)) FLICK_HOST int host_by_host(int x) { return x - 4; }
__attribute__((weak)) FLICK_NXP int not_overridden(int x) { return x - 5; }

typedef int function(int);
static function *const table[] = {nxp_by_nxp, nxp_by_host, host_by_nxp, host_by_host,
                                  not_overridden};

FLICK_NXP static void by_name(int x, int *out) {
  out[0] = nxp_by_nxp(x);
  out[1] = nxp_by_host(x);
  out[2] = host_by_nxp(x);
  out[3] = host_by_host(x);
  out[4] = not_overridden(x);
}
FLICK_NXP static void by_pointer(int x, int *out) {
  for (int i = 0; i < 5; i++)
    out[i] = table[i](x);
}

int main(void) {
  int v[4][5] = {
      {nxp_by_nxp(10), nxp_by_host(10), host_by_nxp(10), host_by_host(10), not_overridden(10)}};
  for (int i = 0; i < 5; i++)
    v[1][i] = table[i](10);
  by_name(10, v[2]);
  by_pointer(10, v[3]);
  for (int i = 0; i < 4; i++)
    printf("%d %d %d %d %d\n", v[i][0], v[i][1], v[i][2], v[i][3], v[i][4]);
}
