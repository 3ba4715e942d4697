// Variadic functions on the NxP with arguments of every kind, more than the registers hold: called
// by host code, by NxP code of the unit, by a function on both sides, and through pointers from
// either side. Expects va_arg to find what x86-64 code would.
#include <flick.h>
#include <stdarg.h>
#include <stdio.h>

typedef struct {
  int a, b;
} ints;
typedef struct {
  float x, y;
} floats;
typedef struct {
  double d;
  long l;
} mixed;
typedef struct {
  char c[40];
} large;
typedef struct {
  _Alignas(32) int v[8];
} aligned;
typedef int i4 __attribute__((vector_size(16)));

FLICK_NXP static void show(const char *kinds, double scale, ...) {
  va_list ap;
  va_start(ap, scale);
  printf("%s %g:", kinds, scale);
  for (const char *k = kinds; *k; k++)
    switch (*k) {
    case 'i':
      printf(" %d", va_arg(ap, int));
      break;
    case 'l':
      printf(" %ld", va_arg(ap, long));
      break;
    case 'd':
      printf(" %g", va_arg(ap, double));
      break;
    case 's':
      printf(" %s", va_arg(ap, const char *));
      break;
    case 'q': {
      __int128 x = va_arg(ap, __int128);
      printf(" %lx:%lx", (long)(x >> 64), (long)x);
      break;
    }
    case 'I': {
      ints x = va_arg(ap, ints);
      printf(" {%d %d}", x.a, x.b);
      break;
    }
    case 'F': {
      floats x = va_arg(ap, floats);
      printf(" {%g %g}", (double)x.x, (double)x.y);
      break;
    }
    case 'M': {
      mixed x = va_arg(ap, mixed);
      printf(" {%g %ld}", x.d, x.l);
      break;
    }
    case 'L': {
      large x = va_arg(ap, large);
      printf(" {%s}", x.c);
      break;
    }
    case 'A': {
      aligned x = va_arg(ap, aligned);
      printf(" {%d %d}", x.v[0], x.v[7]);
      break;
    }
    case 'V': {
      i4 x = va_arg(ap, i4);
      printf(" <%d %d>", x[0], x[3]);
      break;
    }
    }
  puts("");
  va_end(ap);
}

static const ints pair = {1, -2};
static const floats point = {1.5f, -2.5f};
static const mixed both = {3.5, -4};
static const large text = {"forty bytes"};
static const aligned wide = {{5, 0, 0, 0, 0, 0, 0, 6}};
static const i4 vector = {7, 0, 0, 8};

#define CALLS(show, n)                                                                             \
  show("", n);                                                                                     \
  show("idls", n, 1 + n, 2.5, n * -3L * 1099511627776, "four");                                    \
  show("iiiiiiiii", n, 1, 2, 3, 4, 5, 6, 7, 8, n);                                                 \
  show("dddddddddd", n, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, n + 0.5);                     \
  show("IFMLAV", n, pair, point, both, text, wide, vector);                                        \
  show("VFIMVFIMVFIMVFIML", n, vector, point, pair, both, vector, point, pair, both, vector,       \
       point, pair, both, vector, point, pair, both, text);                                        \
  show("qiqAqiLdddddddddFV", n, (__int128)n << 70, n, (__int128)-n, wide, (__int128)n, -n, text,   \
       1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, point, vector)

FLICK_NXP static void by_nxp(int n) {
  void (*volatile pointer)(const char *, double, ...) = show;
  CALLS(show, n);
  n++;
  CALLS(pointer, n);
}
FLICK_BOTH __attribute__((noinline)) static void by_both(int n) { CALLS(show, n); }

int main(void) {
  void (*volatile pointer)(const char *, double, ...) = show;
  int n = 1;
  CALLS(show, n);
  n++;
  CALLS(pointer, n);
  by_nxp(3);
  by_both(5);
}
