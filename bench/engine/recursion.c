/* Calls and returns: Fibonacci numbers and Takeuchi's function, by recursion. */
#include "kernel.h"

static uint64_t fibonacci(unsigned n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }

static int tak(int x, int y, int z) {
  return y >= x ? z : tak(tak(x - 1, y, z), tak(y - 1, z, x), tak(z - 1, x, y));
}

uint64_t recursion(uint64_t work) {
  uint64_t checksum = 0;
  for (uint64_t i = 0; i < work; i++) {
    checksum = fold(checksum, fibonacci(20 + i % 3));
    checksum = fold(checksum, (uint64_t)tak(12, 8, (int)(i % 5)));
  }
  return checksum;
}
