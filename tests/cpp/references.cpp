// References as arguments, results and members across sides: to locals of the other side, to const
// temporaries, to arrays and to functions.
// OUT: 4 3 20 13 70 7
#include <cstdio>
#include <flick.h>

struct Pair {
  int &first;
  const int &second;
  FLICK_NXP int sum() const { return first + second; }
};
FLICK_NXP static void swap_on_nxp(int &a, int &b) {
  int t = a;
  a = b;
  b = t;
}
FLICK_HOST static int &larger(int &a, int &b) { return a < b ? b : a; }
FLICK_HOST static int temporary(const int &x) { return x + 1; }
FLICK_NXP static int array_sum(const int (&a)[4]) {
  int s = 0;
  for (int x : a)
    s += x;
  return s;
}
FLICK_NXP static int call(int (&f)(const int &), int x) { return f(x) + f(x + 1); }
FLICK_NXP static int on_nxp() {
  int a = 1, b = 2;
  larger(a, b) = 50;
  const int &life = temporary(7) + a;
  return a + b + life + Pair{a, life}.sum();
}
FLICK_NXP static int &element(int (&a)[4], int i) { return a[i]; }

int main() {
  int x = 3, y = 4, list[4] = {1, 2, 3, 4};
  swap_on_nxp(x, y);
  element(list, 2) += 10;
  const Pair p{x, y};
  std::printf("%d %d %d %d %d %d\n", x, y, array_sum(list), call(temporary, 5), on_nxp(), p.sum());
}
