// A store to nowhere ends the program. The kernel says where, and who called.
// STATUS: not 0
#include <stdio.h>

__attribute__((noinline)) static void store(volatile int *at) { *at = 1; }

int main(int argc, char **argv) {
  (void)argv;
  printf("before\n");
  store((volatile int *)(long)(argc * 16));
  printf("behind\n");
  return 0;
}
