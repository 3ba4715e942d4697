// More vectors than vector registers, mixed with ints and doubles that go to the stack as well, in
// both directions. Expects each on its place: on the host's stack a vector is 16-byte aligned.
// OUT: nxp 1 2 3 4 5 6 7 8 9 10.5 11 12
// OUT: host 1 2 3 4 5 6 7 8 9 10.5 11 12
// OUT: 45 54 63 72
// CROSSINGS: host-to-nxp=2 nxp-to-host>=1
#include <flick.h>
#include <stdio.h>

typedef int i4 __attribute__((vector_size(16)));
typedef float f2 __attribute__((vector_size(8)));
struct floats {
  float x, y;
};

#define PARAMETERS                                                                                 \
  i4 a, int p, i4 b, int q, i4 c, int r, i4 d, int s, i4 e, int t, i4 f, int u, i4 g, int v, i4 h, \
      long w, i4 i, double j, struct floats k, i4 l
#define GOOD                                                                                       \
  (p == 21 && q == 22 && r == 23 && s == 24 && t == 25 && u == 26 && v == 27 && w == 28 &&         \
   a[3] == 4 && b[3] == 5 && i[1] == 10 && k.y == 11.5f)
#define ARGUMENTS                                                                                  \
  at(1), 21, at(2), 22, at(3), 23, at(4), 24, at(5), 25, at(6), 26, at(7), 27, at(8), 28, at(9),   \
      10.5, (struct floats){11, 11.5f}, at(12)

FLICK_BOTH static i4 at(int n) { return (i4){n, n + 1, n + 2, n + 3}; }

FLICK_HOST static i4 host(PARAMETERS) {
  if (GOOD)
    printf("host %d %d %d %d %d %d %d %d %d %g %g %d\n", a[0], b[0], c[0], d[0], e[0], f[0], g[0],
           h[0], i[0], j, (double)k.x, l[0]);
  return a + b + c + d + e + f + g + h + i;
}

FLICK_NXP static i4 nxp(PARAMETERS) {
  if (GOOD)
    printf("nxp %d %d %d %d %d %d %d %d %d %g %g %d\n", a[0], b[0], c[0], d[0], e[0], f[0], g[0],
           h[0], i[0], j, (double)k.x, l[0]);
  return a + b + c + d + e + f + g + h + i;
}

FLICK_NXP static i4 call_host(void) {
  i4 (*volatile pointer)(PARAMETERS) = host;
  return pointer(ARGUMENTS);
}

int main(void) {
  i4 (*volatile pointer)(PARAMETERS) = nxp;
  i4 x = pointer(ARGUMENTS);
  i4 y = call_host();
  printf("%d %d %d %d\n", x[0], x[1], y[2], y[3]);
}
