// A function that returns twice, called from NxP code through a pointer: no compiler sees that.
// FAILS: run FLK0208
// EXIT: 125
// SAYS: posix_spawn
#include <flick.h>
#include <sys/wait.h>
#include <unistd.h>

static pid_t (*volatile make)(void) = vfork;

FLICK_NXP static int start(void) {
  int child = make();
  if (child == 0)
    _exit(0);
  return waitpid(child, NULL, 0) == child;
}

int main(void) { return start() == 0; }
