// Structs of two, three and four floats, floats with an int or a double, and complex numbers by
// value: x86-64 has two floats in one vector register. In both directions, nested, through
// pointers.
// CROSSINGS: host-to-nxp=14 nxp-to-host=28
#include <complex.h>
#include <flick.h>
#include <stdio.h>

typedef struct {
  float v[2];
} two;
typedef struct {
  float v[3];
} three;
typedef struct {
  float v[4];
} four;
typedef struct {
  float v[2];
  double d;
} with_double;
typedef struct {
  float v[2];
  long l;
} with_long;
typedef float _Complex complex_float;
typedef double _Complex complex_double;

#define PLUS_TWO(x, y) ((two){{x.v[0] + y.v[1], x.v[1] * 2 - y.v[0]}})
#define PLUS_THREE(x, y) ((three){{x.v[0] + y.v[1], x.v[1] - y.v[2], x.v[2] * 2 + y.v[0]}})
#define PLUS_FOUR(x, y)                                                                            \
  ((four){{x.v[0] + y.v[3], x.v[1] - y.v[2], x.v[2] * 2 + y.v[1], x.v[3] - 3 * y.v[0]}})
#define PLUS_DOUBLE(x, y) ((with_double){{x.v[1] + y.v[0], x.v[0]}, x.d - 2 * y.d})
#define PLUS_LONG(x, y) ((with_long){{x.v[1] + y.v[0], x.v[0]}, x.l - 2 * y.l})
#define PLUS_COMPLEX(x, y) (x + 2 * y)

#define TYPE(T, PLUS)                                                                              \
  FLICK_HOST static T host_##T(T x, int k, float f, T y) {                                         \
    printf("host_" #T " %d %g\n", k, (double)f);                                                   \
    return PLUS(x, y);                                                                             \
  }                                                                                                \
  FLICK_NXP static T nxp_##T(int k, T x, T y, float f) {                                           \
    T (*volatile pointer)(T, int, float, T) = host_##T;                                            \
    T a = host_##T(x, k, f, y), b = pointer(y, k + 1, f + 1, a);                                   \
    return PLUS(a, b);                                                                             \
  }

TYPE(two, PLUS_TWO)
TYPE(three, PLUS_THREE)
TYPE(four, PLUS_FOUR)
TYPE(with_double, PLUS_DOUBLE)
TYPE(with_long, PLUS_LONG)
TYPE(complex_float, PLUS_COMPLEX)
TYPE(complex_double, PLUS_COMPLEX)

/* Twice, the second time through a pointer. */
#define BOTH_WAYS(T, VALUE, OTHER, RESULT)                                                         \
  T (*volatile pointer_##T)(int, T, T, float) = nxp_##T;                                           \
  T RESULT = nxp_##T(1, VALUE, OTHER, 0.5f);                                                       \
  RESULT = pointer_##T(2, OTHER, RESULT, -1.25f)

int main(void) {
  BOTH_WAYS(two, ((two){{1, 2}}), ((two){{3.5f, -4}}), a);
  BOTH_WAYS(three, ((three){{1, 2, 3}}), ((three){{4, 5.25f, 6}}), b);
  BOTH_WAYS(four, ((four){{1, 2, 3, 4}}), ((four){{5, 6, 7, 8.125f}}), c);
  BOTH_WAYS(with_double, ((with_double){{1, 2}, 3}), ((with_double){{4, 5}, 6.5}), d);
  BOTH_WAYS(with_long, ((with_long){{1, 2}, 3}), ((with_long){{4, 5}, -6}), e);
  BOTH_WAYS(complex_float, 1.0f + 2.0f * I, 3.0f - 0.5f * I, f);
  BOTH_WAYS(complex_double, 1.0 + 2.0 * I, 3.0 - 0.5 * I, g);
  printf("%g %g\n", (double)a.v[0], (double)a.v[1]);
  printf("%g %g %g\n", (double)b.v[0], (double)b.v[1], (double)b.v[2]);
  printf("%g %g %g %g\n", (double)c.v[0], (double)c.v[1], (double)c.v[2], (double)c.v[3]);
  printf("%g %g %g\n", (double)d.v[0], (double)d.v[1], d.d);
  printf("%g %g %ld\n", (double)e.v[0], (double)e.v[1], e.l);
  printf("%g %g\n", (double)crealf(f), (double)cimagf(f));
  printf("%g %g\n", creal(g), cimag(g));
}
