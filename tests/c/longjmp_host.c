// longjmp from a host callee over NxP frames, at depths one to nine, a hundred times each, with
// normal calls between. Expects locals of the setjmp frame and later crossings to be right.
// OUT: 900 45450 17400
#include <flick.h>
#include <setjmp.h>
#include <stdio.h>

static jmp_buf env;

FLICK_HOST static int bounce(int depth, int target);
FLICK_NXP static int down(int depth, int target) {
  volatile int mine[3] = {depth, target, depth * target};
  int r = bounce(depth - 1, target);
  return r + mine[0] + mine[1] - mine[2];
}
FLICK_HOST static int bounce(int depth, int target) {
  if (depth == 0) {
    if (target)
      longjmp(env, target);
    return 1;
  }
  return down(depth, target);
}

int main(void) {
  volatile long jumps = 0, sum = 0, normal = 0;
  for (volatile int depth = 1; depth < 10; depth++)
    for (volatile int i = 1; i <= 100; i++) {
      int got = setjmp(env);
      if (got == 0) {
        down(depth, i);
        printf("not reached\n");
      } else {
        jumps++;
        sum += got;
      }
      normal += down(depth, 0);
    }
  printf("%ld %ld %ld\n", jumps, sum, normal);
}
