// A program's own functions with names that LLVM knows, called by both sides: they count their
// calls and do something else than the library's, so what the optimiser believes by name shows.
// SKIP-GCC: the compilers choose which calls they fold
#include <flick.h>
#include <stddef.h>

int printf(const char *format, ...);

static int calls[8];

// LLVM takes these for functions that write nothing, so that one call of a loop is enough.
FLICK_NXP size_t strspn(const char *text, const char *set) {
  ++calls[0];
  return (size_t)(*text + *set + calls[0]);
}
FLICK_NXP int strcoll(const char *a, const char *b) {
  ++calls[1];
  return *a - *b + calls[1];
}
FLICK_NXP int access(const char *path, int mode) {
  ++calls[2];
  return *path + mode + calls[2];
}
FLICK_NXP float tanhf(float x) {
  ++calls[3];
  return x + (float)calls[3];
}
FLICK_NXP int putchar(int c) {
  ++calls[4];
  return printf("<%c>", c);
}
FLICK_NXP char *stpcpy(char *restrict to, const char *restrict from) {
  ++calls[5];
  while ((*to = *from++))
    ++to;
  return to;
}
static size_t length(const char *s) {
  ++calls[6];
  size_t n = 0;
  while (s[n])
    ++n;
  return n;
}
FLICK_NXP size_t strnlen(const char *s, size_t most) {
  ++calls[7];
  size_t n = length(s);
  return n < most ? n : most;
}
// A copy loop under the name of the copy, by an alias.
FLICK_NXP void *copy(void *to, const void *from, size_t n) {
  char *a = to;
  const char *b = from;
  while (n--)
    *a++ = *b++;
  return to;
}
void *mempcpy(void *to, const void *from, size_t n) __attribute__((alias("copy")));

#define USES(NAME)                                                                                 \
  double NAME(int n, const char *text) {                                                           \
    char room[64], more[64];                                                                       \
    double sum = 0;                                                                                \
    for (int i = 0; i < n; ++i) {                                                                  \
      sum += (double)strspn(text, "at") + strcoll(text, "b") + access(text, 1) + tanhf(2);         \
      putchar('x');                                                                                \
      sum += stpcpy(room, text) - room;                                                            \
      sum += strnlen(text, 5);                                                                     \
      mempcpy(more, room, 10);                                                                     \
      sum += more[i];                                                                              \
    }                                                                                              \
    return sum;                                                                                    \
  }

void *mempcpy(void *, const void *, size_t);
FLICK_NXP USES(on_nxp)
FLICK_HOST USES(on_host)

int main(void) {
  printf(" %g\n", on_nxp(7, "a text of words"));
  printf(" %g\n", on_host(5, "another one"));
  for (int i = 0; i < 8; ++i)
    printf("%d ", calls[i]);
  printf("\n");
  return 0;
}
