// Placement without marks: a placement file with names, globs, a comment and a later line that
// wins.
// OUT: 120 55 7
// PLACE: functions.place
// CROSSINGS: host-to-nxp=3 nxp-to-host=1
#include <stdio.h>

int compute_factorial(int n) {
  int r = 1;
  for (int i = 2; i <= n; i++)
    r *= i;
  return r;
}
static int step(int a, int b) { return a + b; }
int compute_fibonacci(int n) {
  int a = 0, b = 1;
  while (n--) {
    int t = step(a, b);
    a = b;
    b = t;
  }
  return a;
}
static volatile int visits;
int compute_on_host(int x) {
  visits = visits + 1;
  return x;
}
int other_nxp(int x) { return compute_on_host(x) + 4; }

int main(void) {
  int a = compute_factorial(5), b = compute_fibonacci(10), c = other_nxp(3);
  printf("%d %d %d\n", a, b, c);
}
