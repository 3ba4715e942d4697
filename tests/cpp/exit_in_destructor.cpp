// exit called by a destructor, in NxP code, with other objects alive: static objects are destroyed,
// automatic ones are not, and the status is the destructor's.
// EXIT: 7
// OUT: ending
// OUT: static destroyed
#include <cstdio>
#include <cstdlib>
#include <flick.h>

struct Static {
  FLICK_NXP ~Static() { std::puts("static destroyed"); }
};
struct Local {
  FLICK_HOST ~Local() { std::puts("never printed"); }
};
struct Ends {
  int status;
  FLICK_NXP ~Ends() {
    std::puts("ending");
    std::exit(status);
  }
};
static Static object;
FLICK_NXP static int inner() {
  Local l;
  Ends e{7};
  return static_cast<int>(sizeof l) + e.status;
}
FLICK_HOST static int outer() {
  Local l;
  return inner() + static_cast<int>(sizeof l);
}

int main() { std::printf("%d\n", outer()); }
