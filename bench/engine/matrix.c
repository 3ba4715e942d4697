/* Product of two matrices of doubles, one operation after the other. */
#include "kernel.h"

enum { SIZE = 96 };
static double a[SIZE][SIZE], b[SIZE][SIZE], c[SIZE][SIZE];

static void prepare(void) {
  uint64_t random = 6;
  if (a[0][0] != 0)
    return;
  for (size_t i = 0; i < SIZE; i++)
    for (size_t j = 0; j < SIZE; j++) {
      a[i][j] = (double)(next_random(&random) >> 40) + 1;
      b[i][j] = 1 / ((double)(next_random(&random) >> 40) + 1);
    }
}

static void multiply(void) {
  for (size_t i = 0; i < SIZE; i++)
    for (size_t j = 0; j < SIZE; j++) {
      double sum = 0;
      for (size_t k = 0; k < SIZE; k++)
        sum += a[i][k] * b[k][j];
      c[i][j] = sum;
    }
}

uint64_t matrix(uint64_t work) {
  uint64_t checksum = 0;
  prepare();
  for (uint64_t i = 0; i < work; i++) {
    multiply();
    for (size_t j = 0; j < SIZE; j++) {
      uint64_t bits;
      __builtin_memcpy(&bits, &c[j][(j + i) % SIZE], sizeof bits);
      checksum = fold(checksum, bits);
    }
  }
  return checksum;
}
