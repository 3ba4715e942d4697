// fork called by NxP code: child and parent both go on in NxP code with their own memory, the child
// returns through the crossing and exits, the parent waits.
// OUT: 53 53
// OUT: 125 115
// OUT: 207 187
#include <flick.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static int shared = 1;

FLICK_HOST static int host_double(int x) { return x * 2; }
FLICK_NXP static int split(int n, int *who) {
  int local = n;
  pid_t pid = fork();
  if (pid == 0) {
    shared = 50;
    local = host_double(local + 1);
    *who = 1;
    return local + shared;
  }
  int status = 0;
  waitpid(pid, &status, 0);
  shared += WEXITSTATUS(status);
  local = host_double(local);
  *who = 0;
  return local + shared;
}

int main(void) {
  for (int i = 0; i < 3; i++) {
    fflush(stdout);
    int child, r = split(i * 5, &child);
    if (child)
      _exit(r);
    printf("%d %d\n", r, shared);
  }
}
