// A program's own memcpy, memset and strlen are called as often as the program calls them, and not
// by the runtime.
// CFLAGS: -fno-builtin
// OUT: 17950 100 100 1
#include <flick.h>
#include <stddef.h>
#include <stdio.h>

static int copies, fills, lengths;
FLICK_HOST void *memcpy(void *restrict to, const void *restrict from, size_t size) {
  copies++;
  for (volatile char *t = to; size--; t++)
    *t = ((const char *)from)[t - (volatile char *)to];
  return to;
}
FLICK_HOST void *memset(void *to, int byte, size_t size) {
  fills++;
  for (volatile char *t = to; size--; t++)
    *t = (char)byte;
  return to;
}
FLICK_HOST size_t strlen(const char *text) {
  size_t n = 0;
  lengths++;
  for (volatile const char *t = text; *t; t++)
    n++;
  return n;
}
static char to[300], from[300];
FLICK_NXP static int sum(const char *p, int n) {
  int s = 0;
  for (int i = 0; i < n; i++)
    s += p[i];
  return s;
}

int main(void) {
  int before[3], all = 0;
  for (int i = 0; i < 300; i++)
    from[i] = 1;
  before[0] = copies;
  before[1] = fills;
  before[2] = lengths;
  for (int i = 0; i < 100; i++) {
    memset(to, 0, sizeof to);
    memcpy(to, from, (size_t)(130 + i));
    all += sum(to, 300);
  }
  all += (int)strlen("");
  before[0] = copies - before[0];
  before[1] = fills - before[1];
  before[2] = lengths - before[2];
  printf("%d %d %d %d\n", all, before[0], before[1], before[2]);
  return 0;
}
