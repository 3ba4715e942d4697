// The first thread's stack has 8 MiB, whose pages take memory when they are used. Behind them the
// program ends, and the kernel says why.
// STATUS: not 0
// NEEDS: memory above 2 MiB
#include <flick/card.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

enum { PIECE = 64 << 10 };

__attribute__((noinline)) static long deep(int depth) {
  char piece[PIECE];
  memset(piece, depth, sizeof piece);
  __asm__ volatile("" ::"r"(piece) : "memory");
  return depth ? deep(depth - 1) + piece[depth] : piece[0];
}

// `most` is never reached.
__attribute__((noinline)) static long without_end(long depth, volatile long *most) {
  return depth < *most ? without_end(depth + 1, most) + *most : 0;
}

int main(void) {
  uint64_t all;
  int64_t before = flick_memory_free(&all);
  printf("%ld\n", deep(115));
  int64_t pages = before - flick_memory_free(&all);
  printf("all of it: %d\n", pages > 115 * PIECE / FLICK_PAGE);
  volatile long most = LONG_MAX;
  return without_end(0, &most);
}
