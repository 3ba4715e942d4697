/* CRC-32 (IEEE 802.3) by a table of bytes. */
#include "kernel.h"

static uint32_t table[256];
static unsigned char data[4096];

static void prepare(void) {
  uint64_t random = 4;
  if (table[1])
    return;
  for (uint32_t i = 0; i < 256; i++) {
    uint32_t value = i;
    for (int bit = 0; bit < 8; bit++)
      value = value & 1 ? 0xedb88320u ^ value >> 1 : value >> 1;
    table[i] = value;
  }
  for (size_t i = 0; i < sizeof data; i++)
    data[i] = (unsigned char)(next_random(&random) >> 56);
}

uint64_t crc32(uint64_t work) {
  uint32_t crc = 0xffffffffu;
  prepare();
  for (uint64_t i = 0; i < work; i++)
    for (size_t j = 0; j < sizeof data; j++)
      crc = table[(crc ^ data[j]) & 0xff] ^ crc >> 8;
  return crc ^ 0xffffffffu;
}
