// Two units have static functions, variables, static locals and constant tables of the same names,
// placed in each; expects none to be mixed up.
#include <flick.h>
#include <stdio.h>

int other(int);
void *other_address(void);

static int state = 1;
static const int table[] = {1, 2, 3};
FLICK_NXP static int helper(int x) {
  static int calls;
  state += x;
  return table[x % 3] + ++calls;
}
FLICK_NXP static int work(int x) { return helper(x) * 100 + state; }
FLICK_NXP static void *address(void) { return (void *)helper; }

int main(void) {
  for (int i = 0; i < 4; i++) {
    int a = work(i), b = other(i);
    printf("%d %d\n", a, b);
  }
  printf("%d %d\n", address() == (void *)helper, address() == other_address());
}
