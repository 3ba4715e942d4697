// Endless recursion on the NxP ends at the guard page of its stack.
// FAILS: run FLK0502
// EXIT: signal SEGV
// SAYS: NxP stack overflow
// SAYS: deep+0x
#include <flick.h>

static volatile long limit = -1;

__attribute__((noinline)) FLICK_NXP long deep(long n) {
  volatile char frame[256];
  frame[n & 255] = (char)n;
  return n == limit ? 0 : deep(n + 1) + frame[n & 255];
}

int main(void) { return deep(0) == 0; }
