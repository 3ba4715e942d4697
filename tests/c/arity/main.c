// Which registers hold arguments and results is told to the translator by the compiler: types of
// all kinds, calls through pointers among much that is alive, an argument that is set on one way
// only, definitions that the callers do not know, one that another unit's replaces, and functions
// that the optimiser changes.
#include "arity.h"
#include <stdio.h>

#pragma GCC diagnostic ignored "-Wpragmas"
#pragma GCC diagnostic ignored "-Wunknown-warning-option"
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wsometimes-uninitialized"
#pragma GCC diagnostic ignored "-Wpedantic"

#define NOINLINE __attribute__((noinline))

typedef struct {
  double d;
  long i;
} Mixed;
typedef struct {
  long a, b, c;
} Large;

FLICK_NXP NOINLINE static long nine(long a, long b, long c, long d, long e, long f, long g, long h,
                                    long i) {
  return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h + 9 * i;
}
FLICK_NXP NOINLINE static double ten(double a, double b, double c, double d, double e, double f,
                                     double g, double h, double i, double j) {
  return a - b * 2 + c * 3 - d * 4 + e * 5 - f * 6 + g * 7 - h * 8 + i * 9 - j * 10;
}
FLICK_NXP NOINLINE static Mixed mixed(long i, double d, float f, char c) {
  return (Mixed){.d = d * f, .i = i + c};
}
FLICK_NXP NOINLINE static Large large(long a, Mixed m, Large l) {
  return (Large){.a = a + l.c, .b = m.i + l.b, .c = (long)m.d + l.a};
}
FLICK_NXP NOINLINE static __int128 wide(__int128 a, long b, __int128 c) { return a * b - c; }
FLICK_NXP NOINLINE static float single(float a, int b, float c) { return a * b + c; }

// The optimiser drops arguments of functions that only this unit calls, and gives them another
// convention.
FLICK_NXP NOINLINE static long unused(long a, long b, long c, long d) {
  (void)b;
  (void)c;
  return a * d;
}
FLICK_NXP NOINLINE static long by_address(const long *at, long n) { return *at + n; }

// What is passed second is set only where it is read.
FLICK_NXP NOINLINE static long maybe(int which, long value) { return which ? value : 1; }
FLICK_NXP NOINLINE static long on_one_way(int which, long (*call)(int, long)) {
  long value;
  if (which == 1)
    value = opaque(10);
  else if (which == 2)
    value = opaque(20) * 2;
  return call(which, value) + maybe(which, value);
}

static long plus(long a, long b) { return a + b; }
static long minus3(long a, long b, long c) { return a - b - c; }
FLICK_NXP NOINLINE static long times5(long a, long b, long c, long d, long e) {
  return a * b * c * d * e;
}
FLICK_NXP NOINLINE static double scale(double a, long b) { return a * b; }

// More is alive over the calls than there are registers.
FLICK_NXP NOINLINE static long crowd(long n, long (*p)(long, long), long (*m)(long, long, long),
                                     long (*t)(long, long, long, long, long),
                                     double (*s)(double, long)) {
  long a = n, b = n + 1, c = n + 2, d = n + 3, e = n + 4, f = n + 5, g = n + 6, h = n + 7;
  long i = n + 8, j = n + 9, k = n + 10, l = n + 11;
  double x = 1, y = 2, z = 3;
  for (long r = 0; r < 50; r++) {
    switch (opaque(r) & 7) {
    case 0:
      a = p(a, l), l ^= b;
      break;
    case 1:
      b = m(b, c, k), k += a;
      break;
    case 2:
      c += t(1, 2, d & 3, 3, e & 1), e += j;
      break;
    case 3:
      x = s(x, 3) / 2, d += (long)x & 15;
      break;
    case 4:
      y = scale(y, f & 3) + z, f += g;
      break;
    case 5:
      g = m(h, i, j), h = p(g, 1);
      break;
    case 6:
      z += ten(1, 2, 3, 4, 5, 6, 7, 8, y, x), i ^= r;
      break;
    default:
      j = nine(a, b, c, d, e, f, g, h, i) & 0xffff, k ^= l;
      break;
    }
    if (r & 1)
      a ^= p(k & 0xff, l & 0xff);
  }
  return a ^ b ^ c ^ d ^ e ^ f ^ g ^ h ^ i ^ j ^ k ^ l ^ (long)(x + y + z);
}

FLICK_NXP __attribute__((weak)) long replaced(long a, long b, long c) { return a - b - c; }

// Two calls in one, of functions that get their results where they want.
FLICK_NXP NOINLINE static void print(const char *name, long value) {
  printf("%s %ld %s\n", name, value, "end");
}

FLICK_NXP NOINLINE static void all(void) {
  print("nine", nine(1, 2, 3, 4, 5, 6, 7, 8, 9));
  printf("ten %g\n", ten(1, 2, 3, 4, 5, 6, 7, 8, 9, 10));
  Mixed m = mixed(40, 2.5, 4, 2);
  printf("mixed %g %ld\n", m.d, m.i);
  Large l = large(1, m, (Large){2, 3, 4});
  printf("large %ld %ld %ld\n", l.a, l.b, l.c);
  __int128 w = wide((__int128)1 << 70, 3, 5);
  printf("wide %lx %lx\n", (unsigned long)(w >> 64), (unsigned long)w);
  printf("single %g\n", single(1.5f, 4, 0.25f));
  long at = 7;
  print("unused", unused(6, 1, 2, opaque(7)) + by_address(&at, 3));
  for (int which = 0; which < 3; which++)
    print("one way", on_one_way(which, maybe));
  print("crowd", crowd(opaque(5), plus, minus3, times5, scale));
  print("unprototyped", call_unprototyped(3));
  print("weak", replaced(1, 2, 3));
  printf("variadic %ld\n", sum("iddi", 1, 2.5, 3.5, 4));
}

int main(void) {
  all();
  return 0;
}
