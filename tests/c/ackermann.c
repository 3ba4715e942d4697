// Ackermann's function with its recursion spread over both sides: deep and irregular nesting.
// OUT: 9 11 61
#include <flick.h>
#include <stdio.h>

FLICK_HOST int host(int m, int n);
FLICK_NXP int nxp(int m, int n) {
  if (m == 0)
    return n + 1;
  if (n == 0)
    return host(m - 1, 1);
  return host(m - 1, nxp(m, n - 1));
}
FLICK_HOST int host(int m, int n) {
  if (m == 0)
    return n + 1;
  return n == 0 ? nxp(m - 1, 1) : nxp(m - 1, host(m, n - 1));
}

int main(void) { printf("%d %d %d\n", nxp(2, 3), nxp(2, 4), host(3, 3)); }
