// Placed functions may have, copy and index objects with `long double` members: only to compute
// with such a value is refused (FLK0204). Both sides agree where the members are.
// OUT: 24 7 2.25 2.25
// OUT: 5 2.25 9
// OUT: 33 40 0.75
// OUT: 16 48 64
#include <flick.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

union most {
  long double x;
  void *p;
  char bytes[24];
};
struct mixed {
  char tag;
  long double x;
  int n;
};
struct row {
  union most cells[2];
  short count;
};

static struct mixed table[3] = {{'a', 0.25L, 7}, {'b', 2.25L, 5}, {'c', 0.5L, 9}};
static struct row kept;

FLICK_HOST static void set(union most *m, double x) { m->x = x; }
FLICK_HOST static double get(const struct mixed *m) { return (double)m->x; }

FLICK_NXP static void copies(void) {
  struct mixed local = table[1], copy = local;
  local.n = 24;
  copy.n = table[0].n;
  printf("%d %d %.2f %.2f\n", local.n, copy.n, get(&local), get(&copy));
}

FLICK_NXP static void elements(int i) {
  struct mixed moved[2];
  memcpy(moved, table + i, sizeof moved);
  struct mixed *second = &moved[1];
  printf("%d %.2f %d\n", moved[0].n, get(&moved[0]), second->n);
}

FLICK_NXP static struct row *rows(int count) {
  struct row list[count];
  for (int i = 0; i < count; i++) {
    list[i].count = (short)(33 + i);
    for (int k = 0; k < 2; k++)
      set(&list[i].cells[k], i + k / 4.0);
  }
  kept = list[count - 1];
  list[0].cells[1].bytes[20] = 40;
  printf("%d %d ", list[0].count, list[0].cells[1].bytes[20]);
  return &kept;
}

FLICK_NXP static void sizes(void) {
  printf("%zu %zu %zu\n", offsetof(struct mixed, x), sizeof(struct mixed),
         offsetof(struct row, count));
}

int main(void) {
  copies();
  elements(1);
  struct row *last = rows(1);
  printf("%.2f\n", (double)last->cells[1].x + 0.5);
  sizes();
  return 0;
}
