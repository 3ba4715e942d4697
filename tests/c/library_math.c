// LLVM computes calls of the C library's mathematical functions itself, makes cheaper ones of them,
// or leaves them: on the NxP as on the host, so that every bit of the results is the same.
// SKIP-GCC: gcc rounds constants correctly, clang as the C library does
// LIBS: -lm
#include <errno.h>
#include <flick.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static volatile double some[] = {0.0, -0.0, 0.5, -0.5, 1.0, -1.0, 2.0, 3.25, 1e-8, 100.7, -1e300};
enum { Some = sizeof some / sizeof *some };

static unsigned long hash;

FLICK_BOTH static void add(double x) {
  unsigned long bits;
  memcpy(&bits, &x, sizeof bits);
  if (x != x) // the bits of a NaN are nobody's
    bits = 1;
  hash = hash * 1000003 + bits;
}

FLICK_NXP static void show(const char *name) {
  printf("%s %lx %d\n", name, hash, errno);
  hash = 0;
  errno = 0;
}

#define UNARY(F, FLOAT)                                                                            \
  FLICK_NXP void test_##F(void) {                                                                  \
    errno = 0;                                                                                     \
    for (int i = 0; i < Some; ++i) {                                                               \
      double x = some[i];                                                                          \
      float s = (float)some[i];                                                                    \
      add(F(x)), add(F(-x)), add(F(fabs(x))), add(F((double)i)), add(F(x *x));                     \
      add((double)(float)F((double)s)), add(FLOAT(s)), add(FLOAT(-s)), add(FLOAT((float)i));       \
      add(F(x) * F(x)), add(F(F(x)));                                                              \
    }                                                                                              \
    show(#F " general");                                                                           \
    add(F(0.0)), add(F(1.0)), add(F(-1.0)), add(F(0.5)), add(F(3.0)), add(F(1e3)), add(F(-0.0));   \
    add(F(INFINITY)), add(F(NAN)), add(F(-HUGE_VAL));                                              \
    add(FLOAT(0.0f)), add(FLOAT(1.0f)), add(FLOAT(0.7f)), add(FLOAT(-3.0f)), add(FLOAT(1e3f));     \
    show(#F " constant");                                                                          \
  }

#define BINARY(F, FLOAT)                                                                           \
  FLICK_NXP void test_##F(void) {                                                                  \
    errno = 0;                                                                                     \
    for (int i = 0; i < Some; ++i)                                                                 \
      for (int k = 0; k < Some; ++k) {                                                             \
        double x = some[i], y = some[k];                                                           \
        float s = (float)x, t = (float)y;                                                          \
        add(F(x, y)), add(F(-x, y)), add(F(x, x)), add(F(fabs(x), -y)), add(F(x, (double)k));      \
        add((double)(float)F((double)s, (double)t)), add(FLOAT(s, t)), add(FLOAT(s, (float)k));    \
      }                                                                                            \
    show(#F " general");                                                                           \
    for (int i = 0; i < Some; ++i) {                                                               \
      double x = some[i];                                                                          \
      float s = (float)x;                                                                          \
      add(F(x, 0.0)), add(F(x, 0.5)), add(F(x, -0.5)), add(F(x, 1.0)), add(F(x, -1.0));            \
      add(F(x, 2.0)), add(F(x, 3.0)), add(F(x, 4.5)), add(F(x, -2.0)), add(F(x, 1.5));             \
      add(F(0.0, x)), add(F(1.0, x)), add(F(2.0, x)), add(F(10.0, x)), add(F(0.25, x));            \
      add(FLOAT(s, 2.0f)), add(FLOAT(s, 0.5f)), add(FLOAT(2.0f, s)), add(FLOAT(10.0f, s));         \
      add(FLOAT(s, -1.0f)), add(FLOAT(s, 3.0f)), add(FLOAT(s, 7.0f));                              \
    }                                                                                              \
    show(#F " half constant");                                                                     \
    add(F(2.0, 0.5)), add(F(-8.0, 3.0)), add(F(0.0, -1.0)), add(F(1e300, 1e300));                  \
    add(F(INFINITY, 0.0)), add(F(7.5, -2.0)), add(FLOAT(2.0f, 0.5f)), add(FLOAT(9.0f, -0.5f));     \
    show(#F " constant");                                                                          \
  }

#define UNARIES(X)                                                                                 \
  X(acos, acosf)                                                                                   \
  X(acosh, acoshf)                                                                                 \
  X(asin, asinf)                                                                                   \
  X(asinh, asinhf)                                                                                 \
  X(atan, atanf)                                                                                   \
  X(atanh, atanhf)                                                                                 \
  X(cbrt, cbrtf)                                                                                   \
  X(ceil, ceilf)                                                                                   \
  X(cos, cosf)                                                                                     \
  X(cosh, coshf)                                                                                   \
  X(erf, erff)                                                                                     \
  X(exp, expf)                                                                                     \
  X(exp10, exp10f)                                                                                 \
  X(exp2, exp2f)                                                                                   \
  X(expm1, expm1f)                                                                                 \
  X(fabs, fabsf)                                                                                   \
  X(floor, floorf)                                                                                 \
  X(log, logf)                                                                                     \
  X(log10, log10f)                                                                                 \
  X(log1p, log1pf)                                                                                 \
  X(log2, log2f)                                                                                   \
  X(logb, logbf)                                                                                   \
  X(nearbyint, nearbyintf)                                                                         \
  X(rint, rintf)                                                                                   \
  X(round, roundf)                                                                                 \
  X(roundeven, roundevenf)                                                                         \
  X(sin, sinf) X(sinh, sinhf) X(sqrt, sqrtf) X(tan, tanf) X(tanh, tanhf) X(trunc, truncf)
#define BINARIES(X)                                                                                \
  X(atan2, atan2f)                                                                                 \
  X(copysign, copysignf)                                                                           \
  X(fmax, fmaxf) X(fmin, fminf) X(fmod, fmodf) X(pow, powf) X(remainder, remainderf)

double exp10(double), roundeven(double), cabs(double _Complex);
float exp10f(float), roundevenf(float), cabsf(float _Complex);

UNARIES(UNARY)
BINARIES(BINARY)

// Calls that LLVM takes together, or one for the other.
FLICK_NXP void test_together(void) {
  errno = 0;
  for (int i = 0; i < Some; ++i) {
    double x = some[i], y = some[(i + 3) % Some], part;
    float s = (float)x, spart;
    int n = i - 3, power;
    add(sin(x) * cos(x)), add(sin(-x) + cos(-x)), add(tan(atan(x))), add(log(exp(x)));
    add(exp(log(fabs(x)))), add(log(pow(fabs(x), y))), add(log2(exp2(x))), add(pow(exp(x), 3.3));
    add(pow(exp2(x), 2.5)), add(pow(pow(fabs(x), y), 2)), add(sqrt(x * x)), add(sqrt(x * x * y));
    add(sqrt(fabs(x)) * sqrt(fabs(y))), add(exp2((double)n)), add(exp2f((float)n));
    add(ldexp(1.0, n)), add(ldexp(x, n)), add(ldexpf(1.0f, n)), add(ldexpf(s, 3));
    add(pow(2.0, (double)n)), add(powf(2.0f, (float)n)), add(pow(x, (double)n)), add(pow(16.0, x));
    add(frexp(x, &power)), add(power), add(frexpf(s, &power)), add(power);
    add(modf(x, &part)), add(part), add(modff(s, &spart)), add((double)spart);
    add(remquo(x, 3.0, &power)), add(power), add(remquof(s, 3.0f, &power)), add(power);
    add(cabs(__builtin_complex(x, y))), add((double)cabsf(__builtin_complex(s, 2.0f)));
    add(cos(cos(x))), add(fmin(fmax(x, 1.0), 2.0)), add((double)(float)(sin((double)s) + 1.0));
    add(floor(x) + 0.5 == floor(x + 0.5)), add((double)(int)floor((double)(i * 7)));
  }
  show("together");
  int power;
  double part;
  add(frexp(48.0, &power)), add(power), add(modf(-3.75, &part)), add(part), add(ldexp(0.75, 5));
  add(remquo(29.0, 3.0, &power)), add(power), add(remainder(5.5, 2.0));
  show("constant");
}

FLICK_NXP double constant_sum(void) { return sqrt(16.0) + pow(2.0, 10.0) + cos(0.0) + floor(2.5); }

#define RUN(F, FLOAT) test_##F();
int main(void) {
  UNARIES(RUN)
  BINARIES(RUN)
  test_together();
  printf("%a\n", constant_sum());
  return 0;
}
