// A host callee forks under NxP frames of several levels: both processes return through all of
// them, and the child crosses anew and allocates.
// OUT: 82 4 1081
#include <flick.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static pid_t child;
static int pipe_ends[2];

FLICK_HOST static int fork_here(void) {
  fflush(stdout);
  child = fork();
  return child == 0 ? 1000 : 1;
}
FLICK_HOST static int host(int n);
FLICK_NXP static int nxp(int n) {
  char *p = malloc(100);
  memset(p, n, 100);
  int r = n ? host(n - 1) : fork_here();
  r += p[50] * 2 + n;
  free(p);
  return r;
}
FLICK_HOST static int host(int n) { return nxp(n) + 3; }

int main(void) {
  if (pipe(pipe_ends))
    return 1;
  int r = nxp(6);
  if (child == 0) {
    r += nxp(0) ? 0 : 1;
    if (write(pipe_ends[1], &r, sizeof r) != sizeof r)
      _exit(1);
    if (child)
      waitpid(child, NULL, 0);
    _exit(0);
  }
  int from_child, status;
  close(pipe_ends[1]);
  ssize_t got = read(pipe_ends[0], &from_child, sizeof from_child);
  waitpid(child, &status, 0);
  printf("%d %zd %d\n", r, got, from_child);
}
