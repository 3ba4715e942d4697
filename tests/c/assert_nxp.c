// A failing assert in NxP code: its message goes to standard error, SIGABRT ends the program.
// EXIT: signal ABRT
// ERR: x < 3
#undef NDEBUG
#include <assert.h>
#include <flick.h>

FLICK_NXP static int checked(int x) {
  assert(x < 3);
  return x + 1;
}

int main(void) { return checked(checked(checked(checked(0)))); }
