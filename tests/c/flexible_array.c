// Structs with flexible array members, const and restrict pointers, arrays of static size as
// parameters, nested designated initialisers and compound literals.
// OUT: 324 224 705 7
#include <flick.h>
#include <stdio.h>
#include <stdlib.h>

struct packet {
  unsigned short length;
  unsigned char kind;
  int data[];
};

FLICK_NXP static struct packet *make(int n) {
  struct packet *p = malloc(sizeof *p + (size_t)n * sizeof(int));
  p->length = (unsigned short)n;
  p->kind = 'k';
  for (int i = 0; i < n; i++)
    p->data[i] = i * i;
  return p;
}
FLICK_NXP static void axpy(int n, int k, const int *restrict x, int *restrict y) {
  for (int i = 0; i < n; i++)
    y[i] += k * x[i];
}
FLICK_NXP static int at_least(const int v[static 4], const struct packet *const p) {
  return v[3] + p->data[p->length - 1] + p->kind;
}
FLICK_NXP static const int *literal(int *sum, const int *given) {
  *sum = 0;
  for (int i = 0; i < 3; i++)
    *sum += given[i] * (int[]){1, 10, 100}[i];
  return given + 1;
}

int main(void) {
  struct packet *p = make(10), *q = make(10);
  axpy(10, 3, p->data, q->data);
  int sum;
  const int *second = literal(&sum, (int[]){[2] = 7, [0] = 5});
  printf("%d %d %d %d\n", q->data[9], at_least(q->data, p), sum, second[1]);
  free(p);
  free(q);
}
