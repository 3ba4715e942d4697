#include <flick.h>
#include <stdio.h>
#include <string.h>
static int calls;
FLICK_HOST __attribute__((noinline)) int on_host(int x) { return x + ++calls; }
static int by_name(const void *a, const void *b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}
FLICK_NXP __attribute__((noinline)) double mean(const double *values, int count) {
  double sum = 0;
  for (int i = 0; i < count; i++)
    sum += values[i];
  return sum / count;
}
FLICK_NXP __attribute__((noinline)) int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
FLICK_NXP __attribute__((noinline)) int sorted(const char **names, int count,
                                               int (*compare)(const void *, const void *)) {
  for (int i = 1; i < count; i++)
    for (int j = i; j > 0 && compare(&names[j - 1], &names[j]) > 0; j--) {
      const char *swap = names[j];
      names[j] = names[j - 1];
      names[j - 1] = swap;
    }
  return on_host(count);
}
int main(void) {
  const double values[] = {1, 2.5, 4};
  const char *names[] = {"moon", "sun", "earth", "mars"};
  int count = sorted(names, 4, by_name);
  printf("%g %d %d %s %s\n", mean(values, 3), fib(15), count, names[0], names[3]);
  return 0;
}
