// A struct of two longs by value: argument and result in both directions, in registers.
// OUT: 10995116277760 -10
// OUT: 1202 91
#include <flick.h>
#include <stdio.h>

typedef struct {
  long a, b;
} pair;

FLICK_HOST static pair host_swap(pair p) { return (pair){p.b, p.a}; }
FLICK_NXP static pair nxp_swap(pair p) { return (pair){p.b * 10, p.a * 10}; }
FLICK_NXP static pair nxp_chain(int n, pair p, pair q) {
  for (int i = 0; i < n; i++) {
    p = host_swap((pair){p.a + q.a, p.b + q.b});
    q = host_swap(q);
  }
  return p;
}

int main(void) {
  pair p = nxp_swap((pair){-1, 1L << 40});
  printf("%ld %ld\n", p.a, p.b);
  p = nxp_chain(3, (pair){1, 2}, (pair){30, 400});
  printf("%ld %ld\n", p.a, p.b);
}
