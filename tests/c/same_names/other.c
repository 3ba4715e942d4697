#include <flick.h>

static int state = 50;
static const int table[] = {10, 20, 30};
FLICK_NXP static int helper(int x) {
  static int calls = 5;
  state -= x;
  return table[x % 3] + --calls;
}
FLICK_NXP static int work(int x) { return helper(x) * 100 + state; }
int other(int x) { return work(x); }
FLICK_NXP void *other_address(void) { return (void *)helper; }
