// A failed assertion says which, and ends the program.
// STATUS: not 0
#include <assert.h>
#include <stdio.h>

int main(int argc, char **argv) {
  (void)argv;
  printf("before\n");
  assert(argc == 7);
  return 0;
}
