// main itself is placed on the NxP: arguments, environment, locals, calls, the exit status.
// OUT: 1 one
// OUT: 2 two
// OUT: 3 three
// OUT: value 4 1
// ARGS: one two three
// ENV: CORPUS_VARIABLE=value
// EXIT: 13
#include <flick.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

FLICK_HOST static size_t count(char **v) {
  size_t n = 0;
  while (v[n])
    n++;
  return n;
}

FLICK_NXP int main(int argc, char **argv, char **envp) {
  int length = 0;
  for (int i = 1; i < argc; i++) {
    printf("%d %s\n", i, argv[i]);
    length += (int)strlen(argv[i]);
  }
  const char *v = getenv("CORPUS_VARIABLE");
  printf("%s %zu %d\n", v ? v : "unset", count(argv), envp[0] != NULL);
  return length + (argc == 4) * 2;
}
