// Objects with static storage in three units: initializers and constructors on the NxP, before
// main; within a unit in the order of definition, destructors in reverse order at the end.
// CROSSINGS: host-to-nxp>=6
// OUT: main 10
// OUT: late 21
// OUT: in main 31
// OUT: computed 21
// OUT: late -21
// OUT: main -10
#include "log.h"

static Entry here("main", 10);
static int computed = twice(here.value()) + 1;
static Entry late("late", computed);

int main() {
  note("in main", total());
  note("computed", computed);
  return late.value() == 21 ? 0 : 1;
}
