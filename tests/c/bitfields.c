// Bit-fields of several types and signs, some across storage units, written by one side and read by
// the other.
// OUT: 3 -5 3efa4fa4fe 1 -5 5 5242880
// OUT: 1352526608682
// OUT: 3 3 369d0369ce 1 3 -3 -3145728
// OUT: 1172758925586
// OUT: 3 11 c83fb72e9e 1 3 -11 -11534336
// OUT: 4300116060322
// OUT: 3 3 59e26af36e 1 3 -19 -19922944
// OUT: 1929915056226
// OUT: 3 11 eb851eb83e 1 3 -27 -28311552
// OUT: 5057272190962
#include <flick.h>
#include <stdio.h>
#include <string.h>

struct fields {
  unsigned a : 3;
  int b : 5;
  unsigned long c : 40;
  _Bool d : 1;
  signed char e : 4;
  unsigned : 0;
  short f : 9;
  long g : 33;
};

FLICK_NXP static void write_nxp(struct fields *s, int k) {
  s->a = (unsigned)(k & 7);
  s->b = k % 16;
  s->c = 0x123456789aUL * (unsigned)k;
  s->d = k & 2;
  s->e = k % 8;
  s->f = (short)(-k % 256);
  s->g = -(long)k * (1L << 20);
}
FLICK_NXP static long read_nxp(const struct fields *s) {
  return s->a + s->b * 3 + (long)s->c * 5 + s->d * 7 + s->e * 11 + s->f * 13 + s->g * 17;
}

int main(void) {
  struct fields s;
  memset(&s, 0, sizeof s);
  for (int k = -5; k < 30; k += 8) {
    write_nxp(&s, k);
    printf("%d %d %lx %d %d %d %ld\n", s.a, s.b, (unsigned long)s.c, s.d, s.e, s.f, (long)s.g);
    s.g ^= 1;
    s.b = -s.b;
    printf("%ld\n", read_nxp(&s));
  }
}
