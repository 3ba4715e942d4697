// Variable-length arrays and alloca in NxP functions, passed to the host, with recursion and calls
// with stack arguments below them.
// OUT: 1192 90054
// OUT: 1 2 3 4 5 6 7 8 9 bbbbbbbbbb
// OUT: 280
#include <alloca.h>
#include <flick.h>
#include <stdio.h>
#include <string.h>

FLICK_HOST static long sum(int n, const int v[n]) {
  long s = 0;
  for (int i = 0; i < n; i++)
    s += v[i];
  return s;
}

FLICK_NXP static long vla(int n) {
  int v[n], square[n][n];
  for (int i = 0; i < n; i++) {
    v[i] = i * n;
    for (int j = 0; j < n; j++)
      square[i][j] = i ^ j;
  }
  long s = sum(n, v) + sum(n * n, &square[0][0]) + (long)sizeof square;
  return n > 1 ? s + vla(n / 2) : s;
}

FLICK_NXP static int chunks(int n) {
  char *kept[8];
  for (int i = 0; i < n; i++) {
    kept[i] = alloca((size_t)i * 10 + 1);
    memset(kept[i], 'a' + i, (size_t)i * 10);
    kept[i][i * 10] = 0;
  }
  int length = 0;
  for (int i = 0; i < n; i++)
    length += (int)strlen(kept[i]) * (kept[i][0] == (i ? 'a' + i : 0));
  printf("%d %d %d %d %d %d %d %d %d %s\n", 1, 2, 3, 4, 5, 6, 7, 8, 9, kept[1]);
  return length;
}

int main(void) {
  printf("%ld %ld\n", vla(9), vla(40));
  printf("%d\n", chunks(8));
}
