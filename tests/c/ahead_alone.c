// Code that the link has translated needs no executable memory of the process's own: not for
// recursion, callbacks, jumps over frames, and what the host calls first.
// ENV: FLICK_ENGINE=ahead
// SKIP-MODE: translate nothing is translated at the link
// SKIP-VALGRIND: valgrind makes executable memory
#include <flick.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

static jmp_buf back;

FLICK_HOST __attribute__((noinline)) int host(int x) { return x + 1; }

FLICK_NXP __attribute__((noinline)) long deep(long n) { return n == 0 ? 0 : deep(n - 1) + 1; }

FLICK_NXP __attribute__((noinline)) int storm(int n) {
  int sum = 0;
  for (int i = 0; i < n; i++)
    sum += host(i) % 7;
  return sum;
}

FLICK_NXP __attribute__((noinline)) void leave(int depth) {
  if (depth == 0)
    longjmp(back, 1);
  if (depth > 0)
    leave(depth - 1);
}

FLICK_NXP __attribute__((noinline)) int jumps(int n) {
  volatile int count = 0;
  for (volatile int i = 0; i < n; i++) {
    if (setjmp(back) == 0)
      leave(5);
    count++;
  }
  return count;
}

// Executable mappings that belong to no file.
static int executable(void) {
  char line[512];
  int count = 0;
  FILE *maps = fopen("/proc/self/maps", "r");
  while (maps && fgets(line, sizeof line, maps)) {
    char *rights = strchr(line, ' ');
    if (rights && rights[3] == 'x' && !strchr(line, '/') && !strchr(line, '['))
      count++;
  }
  if (maps)
    fclose(maps);
  return count;
}

int main(void) {
  printf("%ld %d %d\n", deep(10000), storm(10000), jumps(1000));
  printf("%d\n", executable());
  return 0;
}
