// The program's memset, memcpy, memcmp and strlen run on the NxP. The runtime, which starts before
// the program does and copies and fills at a crossing, must not call them.
// CFLAGS: -fno-builtin
// SKIP-RANDOM: which functions are on the NxP is the subject
// OUT: xxxxxxxxxx-copied 17 0
#include <flick.h>
#include <stddef.h>
#include <stdio.h>

FLICK_NXP void *memset(void *to, int byte, size_t size) {
  for (volatile char *t = to; size--; t++)
    *t = (char)byte;
  return to;
}
FLICK_NXP void *memcpy(void *restrict to, const void *restrict from, size_t size) {
  for (volatile char *t = to; size--; t++)
    *t = ((const char *)from)[t - (volatile char *)to];
  return to;
}
FLICK_NXP int memcmp(const void *a, const void *b, size_t size) {
  const volatile unsigned char *x = a, *y = b;
  for (; size; size--, x++, y++)
    if (*x != *y)
      return *x - *y;
  return 0;
}
FLICK_NXP size_t strlen(const char *text) {
  size_t n = 0;
  for (volatile const char *t = text; *t; t++)
    n++;
  return n;
}

int main(void) {
  char line[30];
  memset(line, 'x', 10);
  memcpy(line + 10, "-copied", 8);
  printf("%s %d %d\n", line, (int)strlen(line), memcmp(line, "xxxxx", 5));
  return 0;
}
