// An exception thrown on the host would have to pass an NxP frame to reach its handler: it ends in
// std::terminate with a code, with no destructor of the frames between run.
// ONLY: flick
// OUT: before
// ERR: FLK0506
// EXIT: signal ABRT
#include <cstdio>
#include <flick.h>

struct Guard {
  ~Guard() {
    std::puts("cleanup");
    std::fflush(stdout);
  }
};
FLICK_HOST static int fails(int x) {
  if (x)
    throw x;
  return 1;
}
FLICK_NXP static int middle(int x) {
  Guard g;
  return fails(x) + 1;
}

int main() {
  std::puts("before");
  std::fflush(stdout);
  try {
    std::printf("%d\n", middle(1));
  } catch (int) {
    std::puts("caught");
  }
}
