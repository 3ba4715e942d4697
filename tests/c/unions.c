// Unions: one member written on one side, another read on the other; a tagged union; floating-point
// bits as integers.
// OUT: 3ff0000000000000 bff0000000000001 -1.0000000000000002 -1.875
// OUT: 42 2.5 text
#include <flick.h>
#include <stdint.h>
#include <stdio.h>

union number {
  double d;
  float f[2];
  uint64_t u;
  int32_t i[2];
  uint8_t b[8];
};
struct value {
  enum { INT, REAL, TEXT } kind;
  union {
    long i;
    double d;
    const char *s;
  };
};

FLICK_NXP static void from_double(union number *n, double d) { n->d = d; }
FLICK_NXP static uint64_t flip(union number *n) {
  n->b[7] ^= 0x80;
  n->i[0] += 1;
  return n->u;
}
FLICK_NXP static struct value *bump(struct value *v) {
  switch (v->kind) {
  case INT:
    v->i++;
    break;
  case REAL:
    v->d *= 2;
    break;
  case TEXT:
    v->s++;
    break;
  }
  return v;
}

int main(void) {
  union number n;
  from_double(&n, 1.0);
  uint64_t before = n.u, after = flip(&n);
  printf("%016lx %016lx", (unsigned long)before, (unsigned long)after);
  printf(" %.17g %g\n", n.d, (double)n.f[1]);
  struct value v[] = {{INT, {.i = 41}}, {REAL, {.d = 1.25}}, {TEXT, {.s = "xtext"}}};
  printf("%ld %g %s\n", bump(&v[0])->i, bump(&v[1])->d, bump(&v[2])->s);
}
