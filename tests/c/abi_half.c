// _Float16 alone, in structs of one to five, with other kinds and as vectors, by value in both
// directions; arithmetic and conversions on the NxP. Expects the same bits as on the host.
#include <flick.h>
#include <stdio.h>
#include <string.h>

typedef _Float16 half;
typedef half h8 __attribute__((vector_size(16)));
typedef struct {
  half v[2];
} h2;
typedef struct {
  half v[3];
} h3;
typedef struct {
  half v[5];
} h5;
typedef struct {
  half h;
  float f;
} with_float;

static unsigned bits(half x) {
  unsigned short u;
  memcpy(&u, &x, sizeof u);
  return u;
}

FLICK_HOST static half host(half a, float f, half b, int k) { return a + b * (half)k + (half)f; }
FLICK_NXP static half nxp(half a, half b, double d) {
  half (*volatile pointer)(half, float, half, int) = host;
  return pointer(a, (float)d, b, 3) - host(b, 0.25f, a, -2);
}
FLICK_HOST static h2 host_h2(h2 x) { return (h2){{x.v[1], x.v[0]}}; }
FLICK_NXP static h2 nxp_h2(h2 x, h2 y) {
  x = host_h2(x);
  return (h2){{x.v[0] + y.v[1], x.v[1]}};
}
FLICK_HOST static h3 host_h3(h3 x) { return (h3){{x.v[2], x.v[0], x.v[1]}}; }
FLICK_NXP static h3 nxp_h3(h3 x) { return host_h3(host_h3(x)); }
FLICK_HOST static h5 host_h5(h5 x) { return (h5){{x.v[4], x.v[3], x.v[2], x.v[1], x.v[0]}}; }
FLICK_NXP static h5 nxp_h5(h5 x) {
  x = host_h5(x);
  x.v[2] *= 2;
  return x;
}
FLICK_NXP static with_float nxp_with_float(with_float x) {
  return (with_float){(half)x.f, (float)x.h};
}
FLICK_HOST static h8 host_h8(h8 x, h8 y) { return x + y; }
FLICK_NXP static h8 nxp_h8(h8 x, h8 y) { return host_h8(y, x) * y; }

FLICK_NXP static void convert(double x, long n) {
  volatile half h = (half)x, f = (half)(float)x, i = (half)n;
  printf("%04x %04x %04x %a %ld\n", bits(h), bits(f), bits(i), (double)h, (long)(half)(x / 64));
}

int main(void) {
  printf("%04x %04x\n", bits(nxp((half)1.5, (half)2.25, 0.125)), bits(nxp(-(half)0.0, 1000, 1e-4)));
  h2 a = nxp_h2((h2){{1, 2}}, (h2){{3, 4}});
  printf("%g %g\n", (double)a.v[0], (double)a.v[1]);
  h3 b = nxp_h3((h3){{1, 2, 3}});
  printf("%g %g %g\n", (double)b.v[0], (double)b.v[1], (double)b.v[2]);
  h5 c = nxp_h5((h5){{1, 2, 3, 4, 5}});
  for (int i = 0; i < 5; i++)
    printf("%g ", (double)c.v[i]);
  with_float d = nxp_with_float((with_float){(half)0.5, 3.0f});
  printf("%g %g\n", (double)d.h, (double)d.f);
  h8 e = nxp_h8((h8){1, 2, 3, 4, 5, 6, 7, 8}, (h8){(half).5, 1, 2, 4, 8, 16, 32, 64});
  for (int i = 0; i < 8; i++)
    printf("%g ", (double)e[i]);
  puts("");
  static const double values[] = {0,      -0.0,     1,       65504,   65519,      65520,  1e6,
                                  -1e300, 0x1p-14,  0x1p-24, 0x1p-25, 0x1.8p-25,  1e-300, 2049,
                                  2051,   0x1.1p-3, 1.0 / 3, -1e-5,   0x1.ffep-15};
  for (unsigned i = 0; i < sizeof values / sizeof *values; i++)
    convert(values[i], (long)i * 4099);
}
