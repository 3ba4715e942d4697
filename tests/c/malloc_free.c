// Memory allocated by one side and freed by the other, in both directions, many sizes. Expects the
// contents to stay.
// OUT: 0
#include <flick.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 300 };

FLICK_NXP static char *nxp_make(size_t size, int fill) {
  char *p = malloc(size);
  return p ? memset(p, fill, size) : NULL;
}
FLICK_HOST static char *host_make(size_t size, int fill) {
  char *p = malloc(size);
  return p ? memset(p, fill, size) : NULL;
}
FLICK_NXP static int nxp_check_free(char *p, size_t size, int fill) {
  for (size_t i = 0; i < size; i++)
    if (p[i] != (char)fill)
      return 1;
  free(p);
  return 0;
}
FLICK_HOST static int host_check_free(char *p, size_t size, int fill) {
  for (size_t i = 0; i < size; i++)
    if (p[i] != (char)fill)
      return 1;
  free(p);
  return 0;
}

int main(void) {
  static char *p[N];
  int bad = 0;
  for (int i = 0; i < N; i++) {
    size_t size = (size_t)i * 13 + 1;
    p[i] = i % 2 ? nxp_make(size, i) : host_make(size, i);
  }
  for (int i = 0; i < N; i++) {
    size_t size = (size_t)i * 13 + 1;
    bad += i % 4 < 2 ? host_check_free(p[i], size, i) : nxp_check_free(p[i], size, i);
  }
  char *big = nxp_make(40 << 20, 'b');
  bad += host_check_free(big, 40 << 20, 'b');
  free(NULL);
  printf("%d\n", bad);
}
