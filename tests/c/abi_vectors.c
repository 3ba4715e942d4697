// Vectors of 8 and 16 bytes as arguments and results: host to NxP to host, by name and through
// pointers on both sides, and between NxP functions.
// CROSSINGS: host-to-nxp=18 nxp-to-host=36
#include <flick.h>
#include <stdio.h>
#include <string.h>

typedef float f4 __attribute__((vector_size(16)));
typedef double d2 __attribute__((vector_size(16)));
typedef int i4 __attribute__((vector_size(16)));
typedef long l2 __attribute__((vector_size(16)));
typedef short s8 __attribute__((vector_size(16)));
typedef unsigned char c16 __attribute__((vector_size(16)));
typedef float f2 __attribute__((vector_size(8)));
typedef int i2 __attribute__((vector_size(8)));
typedef struct {
  f4 v;
} wrapped;

FLICK_BOTH static void stir(unsigned char *x, const unsigned char *y, size_t size, int k) {
  for (size_t i = 0; i < size; i++)
    x[i] = (unsigned char)(x[i] * 3 + y[size - 1 - i] + k + (int)i);
}

static void show(const char *type, const void *value, size_t size) {
  printf("%s ", type);
  for (size_t i = 0; i < size; i++)
    printf("%02x", ((const unsigned char *)value)[i]);
  puts("");
}

#define TYPE(T)                                                                                    \
  FLICK_HOST static T host_##T(int k, T x, double d, T y) {                                        \
    stir((unsigned char *)&x, (unsigned char *)&y, sizeof x, k + (int)(d * 2));                    \
    return x;                                                                                      \
  }                                                                                                \
  FLICK_NXP __attribute__((noinline)) static T beside_##T(T x, T y, int k) {                       \
    stir((unsigned char *)&y, (unsigned char *)&x, sizeof x, k);                                   \
    return y;                                                                                      \
  }                                                                                                \
  FLICK_NXP static T nxp_##T(T x, int k, float f, T y) {                                           \
    T (*volatile pointer)(int, T, double, T) = host_##T;                                           \
    T a = host_##T(k, x, f, y);                                                                    \
    return beside_##T(pointer(k + 1, y, 2.5, a), x, k);                                            \
  }                                                                                                \
  static void try_##T(void) {                                                                      \
    T (*volatile pointer)(T, int, float, T) = nxp_##T;                                             \
    T x, y;                                                                                        \
    memset(&x, 7, sizeof x);                                                                       \
    memset(&y, 11, sizeof y);                                                                      \
    x = nxp_##T(x, 3, 1.5f, y);                                                                    \
    show(#T, &x, sizeof x);                                                                        \
    y = pointer(y, -9, 4.5f, x);                                                                   \
    show(#T, &y, sizeof y);                                                                        \
  }

TYPE(f4)
TYPE(d2)
TYPE(i4)
TYPE(l2)
TYPE(s8)
TYPE(c16)
TYPE(f2)
TYPE(i2)
TYPE(wrapped)

int main(void) {
  try_f4();
  try_d2();
  try_i4();
  try_l2();
  try_s8();
  try_c16();
  try_f2();
  try_i2();
  try_wrapped();
}
