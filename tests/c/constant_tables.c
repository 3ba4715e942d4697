// Constant tables at file and function scope, of numbers, structs, pointers and nested arrays, used
// by NxP code; one is also read by the host.
// OUT: cbf43926
// OUT: 298 low 2
// OUT: 2600 high 3
// OUT: 3907 low 5
#include <flick.h>
#include <stdint.h>
#include <stdio.h>

static const uint32_t primes[] = {2, 3, 5, 7, 11, 13, 17, 19};
static const double powers[3][4] = {{1, 2, 4, 8}, {1, 3, 9, 27}, {1, 5, 25, 125}};
static const struct {
  const char *name;
  const uint32_t *data;
  int n;
} index_of[] = {{"low", primes, 4}, {"high", &primes[4], 4}};

FLICK_NXP static uint32_t crc(const char *s) {
  static const uint32_t nibble[16] = {0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac,
                                      0x76dc4190, 0x6b6b51f4, 0x4db26158, 0x5005713c,
                                      0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
                                      0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c};
  uint32_t c = ~0U;
  for (; *s; s++) {
    c ^= (unsigned char)*s;
    c = (c >> 4) ^ nibble[c & 15];
    c = (c >> 4) ^ nibble[c & 15];
  }
  return ~c;
}

FLICK_NXP static double mix(int row, const char *weights) {
  double sum = 0;
  for (int i = 0; i < 4; i++)
    sum += powers[row][i] * weights[i] * index_of[row % 2].data[i];
  return sum;
}

int main(void) {
  printf("%08x\n", crc("123456789"));
  for (int row = 0; row < 3; row++)
    printf("%g %s %u\n", mix(row, "\1\2\3\4"), index_of[row % 2].name, primes[row]);
}
