// K&R definitions and calls without prototypes in both directions and on one side: promoted
// arguments, doubles among them.
// OUT: 20023.5
// OUT: 14 -10 96998
// CFLAGS: -Wno-deprecated-non-prototype -Wno-strict-prototypes -Wno-old-style-definition
#include <flick.h>
#include <stdio.h>

FLICK_HOST static double host_mix(a, x, b, y)
int a, b;
double x, y;
{
  return a * x + b * y;
}
FLICK_NXP static double nxp_mix(a, x, b, y)
int a, b;
double x, y;
{
  return a * x - b * y;
}
FLICK_NXP static int nxp_narrow(c, s)
char c;
short s;
{
  return c * 1000 + s;
}

static double (*volatile pointers[])() = {host_mix, nxp_mix};

FLICK_NXP static double call_all(int n) {
  double sum = nxp_narrow(n, -n) + host_mix(n, 0.5, n + 1, 0.25) + nxp_mix(n, 0.5, 3, 0.25);
  for (int i = 0; i < 2; i++)
    sum = sum * 2 + pointers[i](i + n, 1.5, 7, -0.5);
  return sum;
}

int main(void) {
  printf("%g\n", call_all(5));
  printf("%g %g %d\n", pointers[0](1, 2.0, 3, 4.0), pointers[1](1, 2.0, 3, 4.0),
         nxp_narrow('a', -2));
}
