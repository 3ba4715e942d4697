// Objects with destructors in NxP code that calls host functions which may throw: the cleanups
// compile, and run in order on return, break, continue, goto out of a scope.
#include <cstdio>
#include <flick.h>

FLICK_HOST static void say(const char *what, int n) { std::printf("%s %d\n", what, n); }
struct Lock {
  int id;
  explicit Lock(int i) : id(i) { say("lock", id); }
  ~Lock() { say("unlock", id); }
};
FLICK_HOST static int may_throw(int x) {
  if (x < 0)
    throw x;
  return x + 1;
}
FLICK_NXP static int work(int n) {
  Lock outer(n);
  int sum = 0;
  for (int i = 0; i < 4; i++) {
    Lock inner(10 * n + i);
    if (i == 1)
      continue;
    sum += may_throw(i);
    if (i == n)
      break;
    if (sum > 100)
      return sum;
  }
  {
    Lock last(99);
    if (may_throw(sum) > 3)
      goto out;
    say("not reached with 3", n);
  }
out:
  return sum;
}

int main() {
  int a = work(2), b = work(0);
  std::printf("%d %d\n", a, b);
}
