// malloc, realloc and free of many sizes, and the numbers that printf prints.
// NEEDS: 32 MiB
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t state = 1;

static uint64_t next(void) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return state >> 33;
}

int main(void) {
  enum { BLOCKS = 64, ROUNDS = 2000 };
  static unsigned char *blocks[BLOCKS];
  static size_t sizes[BLOCKS];
  for (int round = 0; round < ROUNDS; round++) {
    int n = next() % BLOCKS;
    for (size_t at = 0; at < sizes[n]; at++)
      if (blocks[n][at] != (unsigned char)(n + at)) {
        printf("block %d has changed at %zu\n", n, at);
        return 1;
      }
    size_t size = next() % 5000;
    blocks[n] = realloc(blocks[n], size + 1);
    sizes[n] = size;
    for (size_t at = 0; at < size; at++)
      blocks[n][at] = n + at;
  }
  for (int n = 0; n < BLOCKS; n++)
    free(blocks[n]);
  volatile char *large = malloc(24 << 20);
  memset((char *)large, 7, 24 << 20);
  printf("large: %d\n", large[(24 << 20) - 1]);
  free((char *)large);
  // Through a pointer: the compiler may assume that its own malloc succeeds.
  void *(*volatile allocate)(size_t) = malloc;
  printf("too large: %d\n", allocate((size_t)1 << 40) == NULL);
  char *after = allocate(100);
  printf("after it: %d\n", after != NULL);
  free(after);
  // More than the machine's memory, one after the other.
  int dirty = 0;
  for (int n = 0; n < 200; n++) {
    char *zeros = calloc(3, 1 << 20);
    dirty += !zeros || zeros[n] || zeros[(3 << 20) - 1];
    memset(zeros, 1, 3 << 20);
    free(zeros);
  }
  printf("dirty: %d\n", dirty);
  char *grown = NULL;
  for (size_t size = 1; size < 1 << 22; size *= 2) {
    grown = realloc(grown, size);
    grown[size - 1] = 3;
  }
  printf("grown: %d\n", grown[0] + grown[(1 << 21) - 1]);
  free(grown);
  free(aligned_alloc(1 << 16, 100));
  printf("aligned: %d\n", (int)((uintptr_t)aligned_alloc(4096, 4096) % 4096));
  printf("%d %5u|%-5d|%05d %llx %zu\n", -7, 42u, 42, 42, 0x123456789abcdefull, sizeof state);
  printf("%f %.3e %g %a\n", 1.5, 12345.678, 0.1, 1.0);
  printf("%s %c %.2s%%\n", "text", 'c', "cut");
  printf("%.17g %g %g\n", DBL_MAX, (double)INFINITY, sqrt(2));
  char text[8];
  printf("%d [%s]\n", snprintf(text, sizeof text, "%d", 123456789), text);
  int a, b;
  double c;
  printf("%d", sscanf("17 0x1f 2.5", "%d %i %lf", &a, &b, &c));
  printf(" %d %d %g\n", a, b, c);
  return 0;
}
