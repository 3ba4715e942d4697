/* Function pointers over the boundary, in every direction, and recursion through it.
 *
 * A function has one address wherever it is placed, so a table of functions, a comparator handed to
 * qsort and a callback handed to NxP code need no wrapping: the thread goes where the code is. */
#include <flick.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 24 };

typedef int compare_fn(const void *left, const void *right);
typedef double map_fn(double value);

/* Host and NxP versions of a callback: what the caller runs decides nothing. */
FLICK_HOST static int by_value(const void *left, const void *right) {
  int a = *(const int *)left, b = *(const int *)right;
  return (a > b) - (a < b);
}

FLICK_NXP static int by_last_digit(const void *left, const void *right) {
  int a = *(const int *)left % 10, b = *(const int *)right % 10;
  return a != b ? a - b : by_value(left, right);
}

/* An insertion sort on the NxP that calls back for every comparison. */
FLICK_NXP static long sort_on_nxp(int *values, size_t count, compare_fn *compare) {
  long comparisons = 0;
  for (size_t i = 1; i < count; i++) {
    int moving = values[i];
    size_t at = i;
    while (at > 0 && (comparisons++, compare(&values[at - 1], &moving) > 0)) {
      values[at] = values[at - 1];
      at--;
    }
    values[at] = moving;
  }
  return comparisons;
}

FLICK_NXP static double half(double value) { return value / 2; }
FLICK_HOST static double squared(double value) { return value * value; }

FLICK_NXP static double sum_of(map_fn *map, const double *values, size_t count) {
  double sum = 0;
  for (size_t i = 0; i < count; i++)
    sum += map(values[i]);
  return sum;
}

/* Every second activation of this recursion is on the other core: the thread nests as deep as its
 * stacks do. */
static long down_on_host(long n);

FLICK_NXP static long down_on_nxp(long n) { return n == 0 ? 0 : n + down_on_host(n - 1); }

FLICK_HOST static long down_on_host(long n) { return n == 0 ? 0 : n + down_on_nxp(n - 1); }

static void fill(int *values) {
  unsigned seed = 1;
  for (int i = 0; i < COUNT; i++) {
    seed = seed * 1103515245u + 12345u;
    values[i] = (int)(seed >> 16) % 1000;
  }
}

static void show(const char *title, const int *values) {
  printf("%s:", title);
  for (int i = 0; i < COUNT; i++)
    printf(" %d", values[i]);
  putchar('\n');
}

int main(void) {
  int values[COUNT];

  fill(values);
  long comparisons = sort_on_nxp(values, COUNT, by_value);
  show("NxP sort, host comparator", values);
  printf("comparisons: %ld\n", comparisons);

  fill(values);
  comparisons = sort_on_nxp(values, COUNT, by_last_digit);
  show("NxP sort, NxP comparator", values);
  printf("comparisons: %ld\n", comparisons);

  fill(values);
  qsort(values, COUNT, sizeof *values, by_last_digit);
  show("qsort of libc, NxP comparator", values);

  const double numbers[] = {1, 2.5, -3, 4.25};
  map_fn *const maps[] = {half, squared};
  for (size_t i = 0; i < sizeof maps / sizeof *maps; i++)
    printf("sum %zu: %g\n", i, sum_of(maps[i], numbers, sizeof numbers / sizeof *numbers));

  printf("depth 1000: %ld\n", down_on_nxp(1000));
}
