// Host and NxP functions nested through each other in a tree: each level calls both sides several
// times. Expects re-entrant crossings with separate frames.
// OUT: 707503 584370 1093 1093
#include <flick.h>
#include <stdio.h>

static int calls[2];

FLICK_HOST long host(int level, long seed);
FLICK_NXP long nxp(int level, long seed) {
  long frame[4] = {seed, seed * 3, seed ^ 5, level};
  calls[0]++;
  if (level > 0) {
    frame[0] += host(level - 1, frame[1]);
    frame[1] += nxp(level - 1, frame[2]);
    frame[2] += host(level - 1, frame[0]);
  }
  return (frame[0] * 7 + frame[1] * 5 + frame[2] * 3 + frame[3]) % 1000003;
}
FLICK_HOST long host(int level, long seed) {
  long frame[3] = {seed + 1, seed * 2, level};
  calls[1]++;
  if (level > 0) {
    frame[0] += nxp(level - 1, frame[1]);
    frame[1] -= host(level - 1, frame[0]);
    frame[2] += nxp(level - 1, frame[1]);
  }
  return (frame[0] * 11 - frame[1] + frame[2] * 13) % 1000003;
}

int main(void) {
  long a = nxp(6, 12345);
  long b = host(6, a);
  printf("%ld %ld %d %d\n", a, b, calls[0], calls[1]);
}
