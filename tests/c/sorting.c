// Three sorting algorithms on the NxP over the same data, checked by the host; the comparison of
// one is a host function.
// OUT: 1 -1000 69 998
#include <flick.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 700 };

FLICK_NXP static void quick(int *v, int lo, int hi) {
  while (lo < hi) {
    int p = v[(lo + hi) / 2], i = lo, j = hi;
    while (i <= j) {
      while (v[i] < p)
        i++;
      while (v[j] > p)
        j--;
      if (i <= j) {
        int t = v[i];
        v[i++] = v[j];
        v[j--] = t;
      }
    }
    quick(v, lo, j);
    lo = i;
  }
}
FLICK_NXP static void heap(int *v, int n) {
  for (int end = n, start = n / 2; end > 1;) {
    if (start > 0) {
      start--;
    } else {
      int t = v[--end];
      v[end] = v[0];
      v[0] = t;
    }
    for (int root = start, child; (child = 2 * root + 1) < end; root = child) {
      if (child + 1 < end && v[child] < v[child + 1])
        child++;
      if (v[root] >= v[child])
        break;
      int t = v[root];
      v[root] = v[child];
      v[child] = t;
    }
  }
}
FLICK_HOST static int less(int a, int b) { return a < b; }
FLICK_NXP static void merge(int *v, int n, int (*lt)(int, int)) {
  if (n < 2)
    return;
  int half = n / 2, *t = malloc((size_t)n * sizeof *t);
  merge(v, half, lt);
  merge(v + half, n - half, lt);
  for (int i = 0, j = half, k = 0; k < n; k++)
    t[k] = j >= n || (i < half && !lt(v[j], v[i])) ? v[i++] : v[j++];
  for (int k = 0; k < n; k++)
    v[k] = t[k];
  free(t);
}

int main(void) {
  static int v[3][N];
  unsigned x = 1;
  for (int i = 0; i < N; i++) {
    x = x * 1103515245 + 12345;
    v[0][i] = v[1][i] = v[2][i] = (int)(x >> 8) % 2000 - 1000;
  }
  quick(v[0], 0, N - 1);
  heap(v[1], N);
  merge(v[2], N, less);
  int sorted = 1;
  for (int i = 0; i < N; i++)
    sorted &= v[0][i] == v[1][i] && v[1][i] == v[2][i] && (!i || v[0][i - 1] <= v[0][i]);
  printf("%d %d %d %d\n", sorted, v[0][0], v[0][N / 2], v[0][N - 1]);
}
