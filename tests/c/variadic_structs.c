// Structs of every class, complex numbers, bit-fields, packed, empty and over-aligned structs as
// variadic arguments, between others, so that registers run out: from NxP code to the host, from
// host code to the NxP, among NxP functions, and in a va_list that goes on to the other side.
// CFLAGS: -Wno-pedantic
#include <complex.h>
#include <flick.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

typedef struct {
  char c[3];
} three;
typedef struct {
  unsigned low : 5, high : 20;
  signed char small;
} bits;
typedef struct __attribute__((packed)) {
  char c;
  double d;
  short s;
} packed;
typedef struct {
  float x, y, z;
} floats;
typedef struct {
  double d;
  int i;
} mixed;
typedef struct {
  long a, b;
} longs;
typedef union {
  double d;
  long l;
} either;
typedef struct {
} empty;
typedef struct {
  long v[5];
} large;
typedef struct {
  _Alignas(32) long v[4];
} aligned32;
typedef struct {
  _Alignas(64) char c;
} aligned64;

#define READ(kind, type, format, ...)                                                              \
  case kind: {                                                                                     \
    type x = va_arg(*list, type);                                                                  \
    used = snprintf(to, room, format, __VA_ARGS__);                                                \
    break;                                                                                         \
  }

// Reads all that `kinds` names; each side has its own.
#define READER(mark, name)                                                                         \
  mark static void name(char *to, size_t room, const char *kinds, va_list *list) {                 \
    for (; *kinds; kinds++) {                                                                      \
      int used = 0;                                                                                \
      switch (*kinds) {                                                                            \
        READ('i', int, " %d", x)                                                                   \
        READ('d', double, " %g", x)                                                                \
        READ('3', three, " [%.3s]", x.c)                                                           \
        READ('b', bits, " <%u %u %d>", x.low, x.high, x.small)                                     \
        READ('p', packed, " <%c %g %d>", x.c, x.d, x.s)                                            \
        READ('f', floats, " (%g %g %g)", x.x, x.y, x.z)                                            \
        READ('m', mixed, " (%g %d)", x.d, x.i)                                                     \
        READ('l', longs, " (%ld %ld)", x.a, x.b)                                                   \
        READ('u', either, " u%g", x.d)                                                             \
        READ('e', empty, " e%zu", sizeof x)                                                        \
        READ('L', large, " {%ld %ld}", x.v[0], x.v[4])                                             \
        READ('A', aligned32, " a%ld-%ld:%d", x.v[0], x.v[3], (int)((size_t)&x % 32))               \
        READ('B', aligned64, " a%c:%d", x.c, (int)((size_t)&x % 64))                               \
        READ('c', float _Complex, " %g%+gi", crealf(x), cimagf(x))                                 \
        READ('C', double _Complex, " %g%+gi", creal(x), cimag(x))                                  \
        READ('q', __int128, " %lx.%lx", (long)(x >> 64), (long)x)                                  \
      }                                                                                            \
      to += used;                                                                                  \
      room -= used;                                                                                \
    }                                                                                              \
  }
READER(FLICK_HOST, read_host)
READER(FLICK_NXP, read_nxp)

#define SHOW(mark, name, reader)                                                                   \
  mark static void name(const char *kinds, ...) {                                                  \
    char text[400] = "";                                                                           \
    va_list list;                                                                                  \
    va_start(list, kinds);                                                                         \
    reader(text, sizeof text, kinds, &list);                                                       \
    va_end(list);                                                                                  \
    printf(#name " %s:%s\n", kinds, text);                                                         \
  }
SHOW(FLICK_HOST, host_reads_host, read_host)
SHOW(FLICK_HOST, host_reads_nxp, read_nxp)
SHOW(FLICK_NXP, nxp_reads_nxp, read_nxp)
SHOW(FLICK_NXP, nxp_reads_host, read_host)

#define PASS(mark, name)                                                                           \
  mark static void name(void (*show)(const char *, ...)) {                                         \
    three t = {"xyz"};                                                                             \
    bits b = {21, 70000, -7};                                                                      \
    packed p = {'p', 2.5, -300};                                                                   \
    floats f = {0.5f, 1.5f, -2.f};                                                                 \
    mixed m = {3.25, 17};                                                                          \
    longs l = {1L << 40, -2};                                                                      \
    either u = {.d = 0.125};                                                                       \
    empty e;                                                                                       \
    memset(&e, 0, sizeof e);                                                                       \
    large L = {{11, 0, 0, 0, 15}};                                                                 \
    aligned32 A = {{21, 0, 0, 24}};                                                                \
    aligned64 B = {'B'};                                                                           \
    __int128 q = ((__int128)5 << 64) + 6;                                                          \
    show("3b", t, b);                                                                              \
    show("pfm", p, f, m);                                                                          \
    show("lul", l, u, l);                                                                          \
    show("iei", 1, e, 2);                                                                          \
    show("LdL", L, 1.5, L);                                                                        \
    show("iAiB", 3, A, 4, B);                                                                      \
    show("cCdc", 1.f + 2.f * I, 3. - 4. * I, 0.5, -1.f + 0.5f * I);                                \
    show("fffffmfmdi", f, f, f, f, f, m, f, m, 9.5, 7);                                            \
    show("llliml3q", l, l, l, 5, m, l, t, q);                                                      \
    show("CCCCCCcb", 1. * I, 2. * I, 3. * I, 4. * I, 5. * I, 6. * I, 7.f + 0.f * I, b);            \
  }
PASS(FLICK_HOST, pass_host)
PASS(FLICK_NXP, pass_nxp)

FLICK_NXP static void pass_directly(void) {
  longs l = {3, 4};
  floats f = {1.f, 2.f, 3.f};
  host_reads_host("lfl", l, f, l);
  nxp_reads_nxp("lfl", l, f, l);
  nxp_reads_host("flf", f, l, f);
}

int main(void) {
  void (*const shows[])(const char *, ...) = {host_reads_host, host_reads_nxp, nxp_reads_nxp,
                                              nxp_reads_host};
  for (int i = 0; i < 4; i++) {
    pass_host(shows[i]);
    pass_nxp(shows[i]);
  }
  pass_directly();
}
