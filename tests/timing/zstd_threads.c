// A program of real size with threads in virtual time: zstd compresses with a pool of threads.
// `zstd_threads THREADS`: prints the size, and the predicted time.
#include "zstd.h"
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { SIZE = 3 << 20 };

int main(int argc, char **argv) {
  unsigned char *text = malloc(SIZE), *packed = malloc(ZSTD_compressBound(SIZE));
  uint32_t seed = 1;
  // Words of a few letters, which come again.
  for (int i = 0; i < SIZE; i++) {
    if (i % 6 == 0)
      seed = seed * 1664525 + 1013904223;
    text[i] = i % 6 == 5 ? ' ' : (unsigned char)('a' + (seed >> (8 + 3 * (i % 6))) % 8);
  }
  ZSTD_CCtx *context = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, 1);
  ZSTD_CCtx_setParameter(context, ZSTD_c_jobSize, 512 << 10);
  size_t error = ZSTD_CCtx_setParameter(context, ZSTD_c_nbWorkers, atoi(argv[1]));
  size_t size = ZSTD_isError(error)
                    ? error
                    : ZSTD_compress2(context, packed, ZSTD_compressBound(SIZE), text, SIZE);
  if (ZSTD_isError(size)) {
    puts(ZSTD_getErrorName(size));
    return 1;
  }
  ZSTD_freeCCtx(context);
  if (ZSTD_decompress(text, SIZE, packed, size) != SIZE)
    return 1;
  printf("%zu\n", size);
}
