// printf called by NxP code with twenty integers, then with twelve doubles, then with both mixed.
// RV64 passes variadic doubles in integer registers, the host in vector registers with a count.
// OUT: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20
// OUT: 0.5 1.5 2.5 3.5 4.5 5.5 6.5 7.5 8.5 9.5 10.5 11.5
// OUT: 1 0.5 2 1.5 3 2.5 4 3.5 5 4.5 6 5.5 7 6.5 8 7.5 9 8.5 10 9.5
// CROSSINGS: host-to-nxp=1 nxp-to-host=3
#include <flick.h>
#include <stdio.h>

FLICK_NXP static void show(int n, double d) {
  printf("%d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d\n", n, n + 1, n + 2, n + 3,
         n + 4, n + 5, n + 6, n + 7, n + 8, n + 9, n + 10, n + 11, n + 12, n + 13, n + 14, n + 15,
         n + 16, n + 17, n + 18, n + 19);
  printf("%g %g %g %g %g %g %g %g %g %g %g %g\n", d, d + 1, d + 2, d + 3, d + 4, d + 5, d + 6,
         d + 7, d + 8, d + 9, d + 10, d + 11);
  printf("%d %g %d %g %d %g %d %g %d %g %d %g %d %g %d %g %d %g %d %g\n", n, d, n + 1, d + 1, n + 2,
         d + 2, n + 3, d + 3, n + 4, d + 4, n + 5, d + 5, n + 6, d + 6, n + 7, d + 7, n + 8, d + 8,
         n + 9, d + 9);
}

int main(void) { show(1, 0.5); }
