// Pointers to locals, globals and the middle of arrays cross in both directions. Expects both sides
// to see one memory at the same addresses.
// OUT: 20 10
// OUT: 5 5
// OUT: 8
// OUT: 2 42 1
#include <flick.h>
#include <stdio.h>

static int table[8] = {0, 1, 2, 3, 4, 5, 6, 7};

FLICK_HOST static int *host_next(int *p) { return p + 1; }

FLICK_NXP static void swap(int *a, int *b) {
  int t = *a;
  *a = *b;
  *b = t;
}

FLICK_NXP static int *nxp_find(int *from, const int *to, int value) {
  while (from != to && *from != value)
    from = host_next(from);
  return from;
}

FLICK_NXP static int write_through(int **where, int local) {
  int mine = local;
  swap(&mine, &table[2]);
  *where = &table[5];
  return mine;
}

int main(void) {
  int x = 10, y = 20;
  swap(&x, &y);
  printf("%d %d\n", x, y);
  int *five = nxp_find(table, table + 8, 5);
  printf("%td %d\n", five - table, *five);
  printf("%td\n", nxp_find(table, table + 8, 99) - table);
  int *where;
  int old = write_through(&where, 42);
  printf("%d %d %d\n", old, table[2], where == five);
}
