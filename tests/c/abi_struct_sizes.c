// Structs of 1 to 64 bytes by value and as result, of chars, of mixed kinds, packed, with
// bit-fields and as unions, between an int and a double, in both directions and through pointers.
#include <flick.h>
#include <stdio.h>
#include <string.h>

FLICK_BOTH static void stir(void *to, const void *from, size_t size, int k) {
  unsigned char *x = to;
  const unsigned char *y = from;
  for (size_t i = 0; i < size; i++)
    x[i] = (unsigned char)(x[i] * 5 + y[size - 1 - i] + k + (int)i);
}
static unsigned long hash(const void *value, size_t size) {
  const unsigned char *x = value;
  unsigned long h = 14695981039346656037UL;
  for (size_t i = 0; i < size; i++)
    h = (h ^ x[i]) * 1099511628211UL;
  return h;
}

#define BY_VALUE(T)                                                                                \
  FLICK_HOST static T host_##T(T x, int k, T y, double d) {                                        \
    stir(&x, &y, sizeof x, k + (int)d);                                                            \
    return x;                                                                                      \
  }                                                                                                \
  FLICK_NXP static T nxp_##T(double d, T x, int k, T y) {                                          \
    T (*volatile pointer)(T, int, T, double) = host_##T;                                           \
    T a = host_##T(x, k, y, d);                                                                    \
    return pointer(y, k + 1, a, d + 1);                                                            \
  }                                                                                                \
  static void try_##T(void) {                                                                      \
    T (*volatile pointer)(double, T, int, T) = nxp_##T;                                            \
    T x, y;                                                                                        \
    memset(&x, 3, sizeof x);                                                                       \
    memset(&y, 5, sizeof y);                                                                       \
    x = nxp_##T(2.5, x, 7, y);                                                                     \
    y = pointer(-1, y, -300, x);                                                                   \
    printf("%s %zu %lx %lx\n", #T, sizeof x, hash(&x, sizeof x), hash(&y, sizeof y));              \
  }

#define SIZE(N)                                                                                    \
  typedef struct {                                                                                 \
    unsigned char c[N];                                                                            \
  } bytes##N;                                                                                      \
  BY_VALUE(bytes##N)
// clang-format off
#define SIZES(EACH) \
  EACH(1) EACH(2) EACH(3) EACH(4) EACH(5) EACH(6) EACH(7) EACH(8) EACH(9) EACH(10) EACH(11) EACH(12) \
  EACH(13) EACH(14) EACH(15) EACH(16) EACH(17) EACH(23) EACH(24) EACH(25) EACH(31) EACH(32) EACH(33) EACH(40) \
  EACH(47) EACH(48) EACH(56) EACH(63) EACH(64)
// clang-format on
SIZES(SIZE)

typedef struct __attribute__((packed)) {
  char c;
  double d;
} packed_double;
typedef struct __attribute__((packed)) {
  short s;
  float f;
  long l;
} packed_mixed;
typedef struct {
  unsigned a : 3, b : 11, c : 18;
} bits_one;
typedef struct {
  unsigned long a : 40, b : 24;
  unsigned c : 31, d : 1;
  unsigned e;
} bits_two;
typedef union {
  float f[2];
  int i[2];
} united;
typedef union {
  double d[2];
  float f[4];
} united_floats;
typedef union {
  unsigned char c[24];
  long l;
} united_large;
typedef struct {
  float f;
  int i;
  double d;
} three_kinds;
typedef struct {
  double d[2];
  long l;
} past_two;
typedef struct {
  struct {
    float x[2];
  } inner;
  union {
    float f;
    int i;
  } either;
  short s[2];
} nested;
BY_VALUE(packed_double)
BY_VALUE(packed_mixed)
BY_VALUE(bits_one)
BY_VALUE(bits_two)
BY_VALUE(united)
BY_VALUE(united_floats)
BY_VALUE(united_large)
BY_VALUE(three_kinds)
BY_VALUE(past_two)
BY_VALUE(nested)

#define TRY(N) try_bytes##N();

int main(void) {
  SIZES(TRY)
  try_packed_double();
  try_packed_mixed();
  try_bits_one();
  try_bits_two();
  try_united();
  try_united_floats();
  try_united_large();
  try_three_kinds();
  try_past_two();
  try_nested();
}
