// A variadic function on the NxP, one on both sides and one on the host, called by NxP code of
// other units, by name and through pointers. Expects the same as natively; between units such a
// call goes by way of the host.
// OUT: nxp 6.5 both 6.5 host 6.5
// OUT: nxp 45 both 45 host 45
// OUT: nxp 6.5 both 6.5 host 6.5
// CROSSINGS: nxp-to-host>=6
#include "sums.h"
#include <stdio.h>

FLICK_HOST double sum_host(const char *kinds, ...) SUM

    FLICK_NXP static void by_name(void) {
  printf("nxp %g both %g host %g\n", sum_nxp("idl", 1, 2.5, 3L), sum_both("idl", 1, 2.5, 3L),
         sum_host("idl", 1, 2.5, 3L));
  printf("nxp %g both %g host %g\n", sum_nxp("idididddd", 1, 2., 3, 4., 5, 6., 7., 8., 9.),
         sum_both("idididddd", 1, 2., 3, 4., 5, 6., 7., 8., 9.),
         sum_host("idididddd", 1, 2., 3, 4., 5, 6., 7., 8., 9.));
}
FLICK_NXP static void by_pointer(double (*const *sums)(const char *, ...)) {
  printf("nxp %g both %g host %g\n", sums[0]("idl", 1, 2.5, 3L), sums[1]("idl", 1, 2.5, 3L),
         sums[2]("idl", 1, 2.5, 3L));
}

int main(void) {
  double (*const sums[])(const char *, ...) = {sum_nxp, sum_both, sum_host};
  by_name();
  by_pointer(sums);
}
