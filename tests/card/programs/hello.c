// The least of all programs.
#include <stdio.h>

int main(void) {
  printf("hello, card\n");
  return 0;
}
