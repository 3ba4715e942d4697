/* zstd at work on source code: SQLite's, of which each call takes the first megabyte or less. */
#include "real.h"

#include "zstd.h"

static const unsigned char text[] = {
#embed "sqlite3.c" limit(1048576)
};
enum { SLOW = 128 << 10 };
static unsigned char packed[sizeof text + sizeof text / 8], unpacked[sizeof text];

static uint64_t sum_of(const unsigned char *bytes, size_t size) {
  uint64_t sum = 0;
  for (size_t i = 0; i < size; i += 61)
    sum = fold(sum, bytes[i]);
  return fold(sum, size);
}

static size_t checked(size_t size) {
  if (ZSTD_isError(size))
    failed("zstd", ZSTD_getErrorName(size));
  return size;
}

static uint64_t compress(int level, size_t size, uint64_t work) {
  uint64_t sum = 0;
  for (uint64_t i = 0; i < work; i++) {
    size_t n = checked(ZSTD_compress(packed, sizeof packed, text + i, size - i, level));
    sum = fold(sum, sum_of(packed, n));
  }
  return sum;
}

uint64_t zstd_1(uint64_t work) { return compress(1, sizeof text, work); }
uint64_t zstd_3(uint64_t work) { return compress(3, sizeof text, work); }
uint64_t zstd_19(uint64_t work) { return compress(19, SLOW, work); }

uint64_t zstd_unpack(uint64_t work) {
  static size_t size;
  uint64_t sum = 0;
  if (!size)
    size = checked(ZSTD_compress(packed, sizeof packed, text, sizeof text, 3));
  for (uint64_t i = 0; i < work; i++) {
    if (checked(ZSTD_decompress(unpacked, sizeof unpacked, packed, size)) != sizeof text)
      failed("zstd", "another size came back");
    sum = fold(sum, sum_of(unpacked, sizeof unpacked));
  }
  return sum;
}
