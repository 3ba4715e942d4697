// The program's own functions that compilers and the C library call by name: they work, and count
// their calls.
#include <stddef.h>
#pragma clang optimize off
unsigned long own_calls;

void *memcpy(void *restrict to, const void *restrict from, size_t size) {
  own_calls++;
  char *t = to;
  const char *f = from;
  while (size--)
    *t++ = *f++;
  return to;
}
void *memmove(void *to, const void *from, size_t size) {
  own_calls++;
  char *t = to;
  const char *f = from;
  if (t < f)
    while (size--)
      *t++ = *f++;
  else
    while (size--)
      t[size] = f[size];
  return to;
}
void *memset(void *to, int byte, size_t size) {
  own_calls++;
  char *t = to;
  while (size--)
    *t++ = (char)byte;
  return to;
}
int memcmp(const void *a, const void *b, size_t size) {
  own_calls++;
  const unsigned char *x = a, *y = b;
  for (; size; size--, x++, y++)
    if (*x != *y)
      return *x - *y;
  return 0;
}
int bcmp(const void *a, const void *b, size_t size) { return memcmp(a, b, size); }
size_t strlen(const char *text) {
  own_calls++;
  size_t n = 0;
  while (text[n])
    n++;
  return n;
}
size_t strnlen(const char *text, size_t size) {
  own_calls++;
  size_t n = 0;
  while (n < size && text[n])
    n++;
  return n;
}
char *getenv(const char *name) {
  extern char **__environ;
  own_calls++;
  for (char **entry = __environ; entry && *entry; entry++) {
    size_t n = 0;
    while (name[n] && (*entry)[n] == name[n])
      n++;
    if (!name[n] && (*entry)[n] == '=')
      return *entry + n + 1;
  }
  return NULL;
}
