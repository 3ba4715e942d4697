// qsort and bsearch of the C library with a comparator on the NxP; the NxP also calls qsort itself
// with its own comparator: host-NxP-host-NxP nesting.
// OUT: 0 -50 0 50 1
// OUT: 33 1 1
// OUT: apple banana cherry fig pear
#include <flick.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int compared;

FLICK_NXP static int by_value(const void *a, const void *b) {
  int x = *(const int *)a, y = *(const int *)b;
  compared++;
  return (x > y) - (x < y);
}
FLICK_NXP static int by_text(const void *a, const void *b) {
  return strcmp(*(char *const *)a, *(char *const *)b);
}
FLICK_NXP static void sort_here(int *v, size_t n) { qsort(v, n, sizeof *v, by_value); }
FLICK_NXP static const int *find_here(const int *v, size_t n, int key) {
  return bsearch(&key, v, n, sizeof *v, by_value);
}

int main(void) {
  int v[50], w[50];
  for (int i = 0; i < 50; i++)
    v[i] = w[i] = i * 37 % 101 - 50;
  qsort(v, 50, sizeof *v, by_value);
  sort_here(w, 50);
  printf("%d %d %d %d %d\n", memcmp(v, w, sizeof v), v[0], v[25], v[49], compared > 100);
  int key = v[33], missing = 1000;
  int *hit = bsearch(&key, v, 50, sizeof *v, by_value);
  printf("%td %d %d\n", hit - v, bsearch(&missing, v, 50, sizeof *v, by_value) == NULL,
         find_here(v, 50, v[7]) == v + 7);
  const char *words[] = {"pear", "apple", "fig", "banana", "cherry"};
  qsort(words, 5, sizeof *words, by_text);
  printf("%s %s %s %s %s\n", words[0], words[1], words[2], words[3], words[4]);
}
