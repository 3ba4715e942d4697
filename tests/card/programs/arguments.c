// Arguments arrive as they were given: with blanks, empty, and with bytes that are no ASCII. The
// status is the number of arguments.
// ARGS: one "two words" "" 100% ümlaut
// STATUS: 6
#include <stdio.h>

int main(int argc, char **argv) {
  for (int n = 0; n < argc; n++)
    printf("%d: [%s]\n", n, argv[n]);
  printf("%s behind the last\n", argv[argc] ? "something" : "nothing");
  return argc;
}
