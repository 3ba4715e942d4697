// Static functions placed on each side, one calling the other, with names that also occur as
// locals and labels elsewhere.
// OUT: 280 25 15
#include <flick.h>
#include <stdio.h>

FLICK_NXP static int square(int x) { return x * x; }
FLICK_HOST static int cube(int x) { return x * x * x; }
FLICK_NXP static int sum(int n) {
  int s = 0;
  for (int i = 1; i <= n; i++)
    s += square(i) + cube(i);
  return s;
}
static int helper(int square) { return square + 1; }

int main(void) {
  int cube = helper(4);
  printf("%d %d %d\n", sum(cube), square(cube), helper(sum(2)));
}
