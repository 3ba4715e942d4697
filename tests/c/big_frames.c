// Frames of 200 KB in NxP functions, nested, with arrays handed to the host, up to several
// megabytes of stack in all.
// OUT: 1399569 2308
#include <flick.h>
#include <stdio.h>
#include <string.h>

FLICK_HOST static long sum(const int *v, int n) {
  long s = 0;
  for (int i = 0; i < n; i++)
    s += v[i];
  return s;
}
FLICK_NXP static long nest(int depth) {
  int v[50000];
  for (int i = 0; i < 50000; i++)
    v[i] = i % (depth + 7);
  long below = depth ? nest(depth - 1) : 0;
  return sum(v, 50000) + below % 1000003;
}
FLICK_NXP static long large(void) {
  char block[3 << 20];
  memset(block, 3, sizeof block);
  block[12345] = 4;
  long s = 0;
  for (size_t i = 0; i < sizeof block; i += 4096)
    s += block[i];
  return s + block[12345];
}

int main(void) { printf("%ld %ld\n", nest(20), large()); }
