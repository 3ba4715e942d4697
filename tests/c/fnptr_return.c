// Functions that return function pointers, of the other side, in chains; the caller calls what it
// got.
// OUT: 7886 7886
#include <flick.h>
#include <stdio.h>

typedef int step(int);

FLICK_HOST static int h_inc(int x) { return x + 1; }
FLICK_NXP static int n_dbl(int x) { return x * 2; }
FLICK_NXP static step *n_pick(int i) { return i % 2 ? h_inc : n_dbl; }
FLICK_HOST static step *h_pick(int i) { return i % 3 ? n_dbl : h_inc; }
FLICK_NXP static step *(*n_picker(int i))(int) { return i % 2 ? h_pick : n_pick; }

FLICK_NXP static int run(int n) {
  int x = 1;
  for (int i = 0; i < n; i++)
    x = n_picker(i)(i)(x) % 10007;
  return x;
}

int main(void) {
  int x = 1;
  for (int i = 0; i < 20; i++)
    x = n_picker(i)(i)(x) % 10007;
  printf("%d %d\n", x, run(20));
}
