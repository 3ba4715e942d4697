// Runs a program, and then another one: runs_two PROGRAM ARGUMENT... -- PROGRAM ARGUMENT...
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

extern char **environ;

static int run(char **words) {
  pid_t child;
  int status, error = posix_spawn(&child, words[0], NULL, NULL, words, environ);
  if (error) {
    printf("%s: %s\n", words[0], strerror(error));
    return 1;
  }
  return waitpid(child, &status, 0) != child || status;
}

int main(int argc, char **argv) {
  int n = 1;
  while (n < argc && strcmp(argv[n], "--"))
    n++;
  if (n == 1 || n + 1 >= argc)
    return 2;
  argv[n] = NULL;
  return run(argv + 1) || run(argv + n + 1);
}
