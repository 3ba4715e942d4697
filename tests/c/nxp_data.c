// FLICK_NXP_DATA on global, static, initialised, zero and pointer variables. Expects initial values
// and sharing as for any variable.
// OUT: initial p -9 4
// OUT: changed -100 50000 40400 70700 30300 40391
#include <flick.h>
#include <stdio.h>

FLICK_NXP_DATA int numbers[5] = {1, 2, 3, 4, 5};
FLICK_NXP_DATA static double sums[3];
FLICK_NXP_DATA static const char *label = "initial";
FLICK_NXP_DATA static struct {
  char c;
  long l;
} pair = {'p', -9};
FLICK_NXP_DATA static int *inside = &numbers[3];
static int ordinary = 100;

FLICK_NXP static void work(void) {
  for (int i = 0; i < 5; i++) {
    numbers[i] *= ordinary;
    sums[i % 3] += numbers[i];
  }
  label = "changed";
  pair.l += *inside;
}

int main(void) {
  printf("%s %c %ld %d\n", label, pair.c, pair.l, *inside);
  work();
  numbers[0] = -1;
  work();
  printf("%s %d %d %g %g %g %ld\n", label, numbers[0], numbers[4], sums[0], sums[1], sums[2],
         pair.l);
}
