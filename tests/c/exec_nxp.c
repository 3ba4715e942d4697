// NxP code replaces the process by execvp after fork, and runs a shell with system and popen.
// OUT: executed
// OUT: 0
// OUT: 127
// OUT: 4 from a pipe
// OUT: 3
#include <flick.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

FLICK_NXP static int spawn(char *const argv[]) {
  pid_t pid = fork();
  if (pid == 0) {
    execvp(argv[0], argv);
    _exit(127);
  }
  int status;
  waitpid(pid, &status, 0);
  return WEXITSTATUS(status);
}
FLICK_NXP static int shell(char *line, int size) {
  FILE *f = popen("echo from a pipe; exit 4", "r");
  if (!f || !fgets(line, size, f))
    return -1;
  return WEXITSTATUS(pclose(f));
}

int main(void) {
  setbuf(stdout, NULL);
  char *echo[] = {"echo", "executed", NULL}, *missing[] = {"/nonexistent", NULL};
  printf("%d\n", spawn(echo));
  printf("%d\n", spawn(missing));
  char line[64];
  printf("%d ", shell(line, sizeof line));
  printf("%s%d\n", line, WEXITSTATUS(system("exit 3")));
}
