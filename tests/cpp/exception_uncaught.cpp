// An exception that nobody catches, thrown on the host below an NxP frame.
// OUT: before
// STDERR: same
// EXIT: signal ABRT
#include <cstdio>
#include <flick.h>

FLICK_HOST static int fails(int x) {
  if (x)
    throw "no one catches this";
  return 1;
}
FLICK_NXP static int middle(int x) { return fails(x) + 1; }

int main() {
  std::puts("before");
  std::fflush(stdout);
  std::printf("%d\n", middle(1));
}
