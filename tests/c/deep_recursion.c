// Recursion of depth 3,000 that crosses at every call, with live locals and doubles in each frame.
// Expects every frame's values to survive.
// OUT: 8995065.1313476562
// CROSSINGS: host-to-nxp=1500 nxp-to-host=1500
#include <flick.h>
#include <stdio.h>

FLICK_HOST double host(int n, double x, const int *above);
FLICK_NXP double nxp(int n, double x, const int *above) {
  int local = n * 3 + *above % 7;
  double y = x * 1.0009765625 + n;
  if (n == 0)
    return y;
  double below = host(n - 1, x + 1, &local);
  return below + y - local;
}
FLICK_HOST double host(int n, double x, const int *above) {
  int local = n * 5 + *above % 11;
  double y = x * 0.9990234375 - n;
  if (n == 0)
    return y;
  double below = nxp(n - 1, x - 0.5, &local);
  return below - y + local;
}

int main(void) {
  int zero = 0;
  printf("%.17g\n", nxp(2999, 0.25, &zero));
}
