#include <stdio.h>

long sum(const int *values, int count);

int main(void) {
  int values[] = {1, 2, 3};
  printf("%ld\n", sum(values, 3));
}
