// Types that gcc has not: vectors of three, __bf16, _BitInt. By value in both directions.
// ONLY: flick
// SKIP-TIMED: the same where a block of the program is divided
// SKIP-MODE: O0 clang calls __truncsfbf2 there, natively too, and the libgcc of Debian 12 lacks it
// OUT: 5 7 9 | 3 8 15
// OUT: 1.5 -2 3
// OUT: 3fc0 4040
// OUT: 9 60000000007
#include <flick.h>
#include <stdio.h>
#include <string.h>

typedef float f3 __attribute__((ext_vector_type(3)));
typedef int i3 __attribute__((ext_vector_type(3)));
typedef _BitInt(100) bits;
typedef struct {
  __bf16 v[2];
} brains;

FLICK_HOST static f3 host_f3(f3 x, f3 y) { return x + y; }
FLICK_NXP static f3 nxp_f3(f3 x, f3 y) { return host_f3(y, x); }
FLICK_HOST static i3 host_i3(i3 x, i3 y) { return x * y; }
FLICK_NXP static i3 nxp_i3(i3 x, i3 y) { return host_i3(y, x) - (i3){1, 2, 3}; }

FLICK_HOST static __bf16 host_first(brains x, __bf16 y) {
  printf("%g %g %g\n", (double)(float)x.v[0], (double)(float)x.v[1], (double)(float)y);
  return x.v[0];
}
FLICK_NXP static brains nxp_brains(brains x, __bf16 y) { return (brains){{host_first(x, y), y}}; }
static unsigned pattern(__bf16 x) {
  unsigned short u;
  memcpy(&u, &x, sizeof u);
  return u;
}

FLICK_HOST static bits host_bits(long a, long b, long c, bits x, bits y) {
  return a + b + c == 6 ? x - y : 0;
}
FLICK_NXP static bits nxp_bits(bits x, int k) { return host_bits(1, 2, 3, x * k, x); }

int main(void) {
  f3 f = nxp_f3((f3){1, 2, 3}, (f3){4, 5, 6});
  i3 i = nxp_i3((i3){1, 2, 3}, (i3){4, 5, 6});
  printf("%g %g %g | %d %d %d\n", (double)f.x, (double)f.y, (double)f.z, i.x, i.y, i.z);
  float values[] = {1.5f, -2, 3};
  __bf16 v[3];
  for (int k = 0; k < 3; k++) {
    unsigned u;
    memcpy(&u, &values[k], 4);
    unsigned short upper = (unsigned short)(u >> 16);
    memcpy(&v[k], &upper, 2);
  }
  brains b = nxp_brains((brains){{v[0], v[1]}}, v[2]);
  printf("%x %x\n", pattern(b.v[0]), pattern(b.v[1]));
  bits x = nxp_bits(((bits)1 << 90) + 1, 7) / 6;
  printf("%d %ld\n", (int)(x >> 90) + 8, (long)((x & 0xffff) * 60000000000 + 7));
}
