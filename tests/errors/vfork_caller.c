// A function that returns twice, called from NxP code: in the parent it would find a crossing that
// the child has gone through.
// FAILS: compile FLK0208
// SAYS: 'start'
#include <flick.h>
#include <unistd.h>

FLICK_NXP int start(void) {
  int child = vfork(); /* HERE */
  if (child == 0)
    _exit(0);
  return child;
}

int main(void) { return start() == 0; }
