// Switches the machine's timed mode: `mark on`, `mark off`.
#include <string.h>

int main(int argc, char **argv) {
  if (argc == 2 && !strcmp(argv[1], "on"))
    __asm__ volatile("slti x0, x0, 1");
  else
    __asm__ volatile("slti x0, x0, 2");
  return 0;
}
