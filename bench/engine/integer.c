/* Integer arithmetic: Collatz sequences, greatest common divisors, powers modulo a prime. */
#include "kernel.h"

static unsigned collatz(uint64_t n) {
  unsigned steps = 0;
  for (; n != 1; steps++)
    n = n & 1 ? 3 * n + 1 : n >> 1;
  return steps;
}

static uint64_t gcd(uint64_t a, uint64_t b) {
  while (b) {
    uint64_t rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

static uint32_t power(uint32_t base, uint32_t exponent, uint32_t modulus) {
  uint64_t result = 1, square = base % modulus;
  for (; exponent; exponent >>= 1) {
    if (exponent & 1)
      result = result * square % modulus;
    square = square * square % modulus;
  }
  return (uint32_t)result;
}

uint64_t integer(uint64_t work) {
  uint64_t checksum = 0, random = 1;
  for (uint64_t i = 1; i <= work; i++) {
    checksum = fold(checksum, collatz(i));
    uint64_t a = next_random(&random), b = next_random(&random);
    checksum = fold(checksum, gcd(a >> 20, b >> 20));
    checksum = fold(checksum, power((uint32_t)a, (uint32_t)b, 4294967291u));
  }
  return checksum;
}
