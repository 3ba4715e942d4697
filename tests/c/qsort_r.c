// qsort_r with an NxP comparator that uses its context argument, called from the host and from NxP
// code.
// OUT: 31 32 92 4 15 35 65 38 79 89
// OUT: 89 32 4 38 31 79 65 92 15 35
#define _GNU_SOURCE
#include <flick.h>
#include <stdio.h>
#include <stdlib.h>

struct order {
  int modulus, descending;
};

FLICK_NXP static int compare(const void *a, const void *b, void *context) {
  const struct order *o = context;
  int x = *(const int *)a % o->modulus, y = *(const int *)b % o->modulus;
  if (x == y)
    x = *(const int *)a, y = *(const int *)b;
  return o->descending ? (y > x) - (y < x) : (x > y) - (x < y);
}
FLICK_NXP static void sort_on_nxp(int *v, size_t n, struct order o) {
  qsort_r(v, n, sizeof *v, compare, &o);
}

int main(void) {
  int v[] = {31, 4, 15, 92, 65, 35, 89, 79, 32, 38};
  struct order o = {10, 0};
  qsort_r(v, 10, sizeof *v, compare, &o);
  for (int i = 0; i < 10; i++)
    printf("%d%c", v[i], i < 9 ? ' ' : '\n');
  sort_on_nxp(v, 10, (struct order){7, 1});
  for (int i = 0; i < 10; i++)
    printf("%d%c", v[i], i < 9 ? ' ' : '\n');
}
