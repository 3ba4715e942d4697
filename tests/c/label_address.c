// Jumps to labels by address: from a table, and from a register that was given the one address
// that a table's constant index leads to, with values alive that only its code reads.
// OUT: 6 2f 2e bd
#include "flick.h"
#include <stdio.h>

static unsigned long seen;
FLICK_HOST __attribute__((noinline)) static void note(unsigned long x) { seen += x; }

FLICK_NXP __attribute__((noinline)) static unsigned long step(unsigned long x, unsigned long y) {
  unsigned long n = 3, m = 1;
  {
    __label__ a, b, c;
    static void *const t[] = {&&a, &&b, &&c};
    goto *t[x % 3];
  a:
    n += 7;
  b:
    n *= 3;
  c:
    n ^= 5;
  }
  {
    __label__ a, b, c;
    static void *const t[] = {&&a, &&b, &&c};
    goto *t[8406285459591341953ull % 3];
  a:
    m += 7;
  b:
    m *= 3;
  c:
    m ^= 5;
  }
  note(m);
  for (unsigned long i = 0; i < 3; i++)
    note(x + y);
  return n + y;
}

int main(void) {
  unsigned long first = step(2, 0), second = step(0, 20), third = step(1, 34);
  printf("%lx %lx %lx %lx\n", first, second, third, seen);
  return 0;
}
