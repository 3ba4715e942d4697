// Functions of different shapes, each on its own data in NxP-local memory. What one of them would
// take on the NxP is told from the RV64 code that it would have: the host's has vectors, other
// multiplications, other conversions.
#include <flick.h>
#include <stdio.h>

#define APART __attribute__((noinline))

enum { COUNT = 20000 };

// The NxP computes the hash without a product where it can; on flick-isca20 a product is a routine.
APART unsigned long fill(unsigned long *table) {
  for (unsigned long i = 0; i < COUNT; i++)
    table[i * 0x9e3779b97f4a7c15 >> 50] = i;
  return table[0];
}

APART int sum_of_ints(const int *values) {
  int sum = 0;
  for (long i = 0; i < COUNT; i++)
    sum += values[i];
  return sum;
}

APART void scale(float *values, float by) {
  for (long i = 0; i < COUNT; i++)
    values[i] = values[i] * by + 1;
}

APART double norm(const double *values) {
  double sum = 0;
  for (long i = 0; i < COUNT; i++)
    sum += values[i] / (values[i] + 3) - (double)i;
  return sum;
}

APART long bytes(const signed char *text) {
  long sum = 0;
  for (long i = 0; i < COUNT; i++)
    if (text[i] < 0)
      sum -= text[i];
    else if (text[i] == 'x')
      sum ^= 5;
  return sum;
}

APART unsigned long divide(const unsigned int *values, unsigned int by) {
  unsigned long sum = 0;
  for (long i = 0; i < COUNT; i++)
    sum += values[i] / by + values[i] % 10;
  return sum;
}

// Inlined on both sides.
static inline unsigned rotate(unsigned x, int by) { return x << by | x >> (32 - by); }

APART unsigned mix(const unsigned int *values) {
  unsigned a = 1, b = 2;
  for (long i = 0; i < COUNT; i++) {
    a = rotate(a ^ values[i], 7) + b;
    b = rotate(b, 13) ^ (a & values[i]);
    if (a & 1)
      b += a;
  }
  return a ^ b;
}

APART void sort(int *values) {
  for (long i = 1; i < 400; i++)
    for (long j = i; j > 0 && values[j - 1] > values[j]; j--) {
      int swap = values[j];
      values[j] = values[j - 1];
      values[j - 1] = swap;
    }
}

// A leaf that is called: registers are saved, and come back.
APART long depth(const int *tree, long node) {
  if (node >= COUNT)
    return 0;
  long left = depth(tree, 2 * node + 1), right = depth(tree, 2 * node + 2);
  return tree[node] + (left > right ? left : right);
}

static void *memory(unsigned long size) { return flick_alloc(FLICK_MEM_NXP, size); }

int main(void) {
  unsigned long *table = memory((1 << 14) * sizeof *table);
  int *ints = memory(COUNT * sizeof *ints);
  float *floats = memory(COUNT * sizeof *floats);
  double *doubles = memory(COUNT * sizeof *doubles);
  signed char *text = memory(COUNT);
  for (long i = 0; i < COUNT; i++) {
    ints[i] = (int)(i * 7919 % 1000);
    floats[i] = (float)i;
    doubles[i] = (double)(i % 17);
    text[i] = (signed char)(i * 31 % 251);
  }
  unsigned long hash = fill(table);
  int sum = sum_of_ints(ints);
  scale(floats, 0.5f);
  double length = norm(doubles);
  long weight = bytes(text);
  unsigned long quotients = divide((unsigned *)ints, (unsigned)(sum & 15) + 3);
  unsigned mixed = mix((unsigned *)ints);
  sort(ints);
  long deep = depth(ints, 0);
  printf("%lu %d %g %g %ld %lu %u %d %ld\n", hash, sum, (double)floats[99], length, weight,
         quotients, mixed, ints[77], deep);
}
