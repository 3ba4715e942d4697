// A host exception reaches a noexcept function on the NxP: the program's terminate handler runs,
// natively and here.
// CROSSINGS: unrecorded ends by _Exit
// OUT: before
// OUT: handler
// EXIT: 3
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <flick.h>

FLICK_HOST static int fails(int x) {
  if (x)
    throw x;
  return 1;
}
FLICK_NXP static int never_throws(int x) noexcept { return fails(x) + 1; }
static void handler() {
  std::puts("handler");
  std::fflush(stdout);
  std::_Exit(3);
}

int main() {
  std::set_terminate(handler);
  std::puts("before");
  std::printf("%d\n", never_throws(5));
}
