// The exit status, functions of atexit, and a stream that is not closed.
// ARGS: 77
// STATUS: 77
#include <stdio.h>
#include <stdlib.h>

static void one(void) { printf("registered first, called last\n"); }
static void two(void) { printf("registered last, called first\n"); }
static void nothing(void) {}

int main(int argc, char **argv) {
  (void)argc;
  atexit(one);
  // More than the 32 that the standard promises.
  for (int n = 0; n < 100; n++)
    if (atexit(nothing))
      return 1;
  atexit(two);
  printf("no end of line, ");
  exit(atoi(argv[1]));
}
