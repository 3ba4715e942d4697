#include <stdio.h>

int main(int argc, char **argv) {
  for (int n = 1; n < argc; n++)
    printf("hello, %s\n", argv[n]);
  return argc == 1;
}
