// Round trips through zstd: levels, streams in small pieces with several threads, dictionaries that
// are trained, long distances, parameters, damaged data.
#define ZSTD_STATIC_LINKING_ONLY
#include "zstd.h"
#include "input.h"
#include "zdict.h"

static unsigned char packed[1 << 20], unpacked[1 << 20];
static size_t live;

static void *allocate(void *user, size_t size) {
  __atomic_fetch_add((size_t *)user, 1, __ATOMIC_RELAXED);
  return malloc(size);
}
static void release(void *user, void *block) {
  if (block)
    __atomic_fetch_sub((size_t *)user, 1, __ATOMIC_RELAXED);
  free(block);
}
static const ZSTD_customMem memory = {allocate, release, &live};

static void came_back(const struct input *in, size_t size, const char *what) {
  check(!ZSTD_isError(size) && size == in->size && memcmp(unpacked, in->bytes, size) == 0, what);
}

static void levels(const struct input *in) {
  static const int all[] = {-5, 1, 2, 3, 5, 7, 9, 12, 15, 18, 22};
  for (unsigned i = 0; i < sizeof all / sizeof *all; i++) {
    size_t size = ZSTD_compress(packed, sizeof packed, in->bytes, in->size, all[i]);
    printf("%s: level %d: %zu, %08x\n", in->name, all[i], size, checksum(packed, size));
    check(ZSTD_getFrameContentSize(packed, size) == in->size, "the content size");
    came_back(in, ZSTD_decompress(unpacked, sizeof unpacked, packed, size), "a level");
  }
}

static void streams(const struct input *in, int threads, int distance) {
  ZSTD_CCtx *c = ZSTD_createCCtx_advanced(memory);
  ZSTD_CCtx_setParameter(c, ZSTD_c_compressionLevel, 4);
  ZSTD_CCtx_setParameter(c, ZSTD_c_checksumFlag, 1);
  ZSTD_CCtx_setParameter(c, ZSTD_c_enableLongDistanceMatching, distance);
  check(!ZSTD_isError(ZSTD_CCtx_setParameter(c, ZSTD_c_nbWorkers, threads)), "threads");
  ZSTD_outBuffer out = {packed, sizeof packed, 0};
  size_t at = 0;
  do {
    size_t n = in->size - at < 20000 ? in->size - at : 20000;
    ZSTD_inBuffer piece = {in->bytes + at, n, 0};
    at += n;
    size_t left;
    do {
      left = ZSTD_compressStream2(c, &out, &piece,
                                  at == in->size        ? ZSTD_e_end
                                  : at / 20000 % 2 == 0 ? ZSTD_e_flush
                                                        : ZSTD_e_continue);
      check(!ZSTD_isError(left), "compressStream2");
    } while (piece.pos < piece.size || (at == in->size && left != 0));
  } while (at < in->size);
  ZSTD_freeCCtx(c);
  printf("%s: stream with %d threads: %zu, %08x\n", in->name, threads, out.pos,
         checksum(packed, out.pos));

  ZSTD_DStream *d = ZSTD_createDStream_advanced(memory);
  ZSTD_outBuffer back = {unpacked, 0, 0};
  for (size_t from = 0; from < out.pos; from += 700) {
    ZSTD_inBuffer piece = {packed + from, out.pos - from < 700 ? out.pos - from : 700, 0};
    while (piece.pos < piece.size) {
      back.size = back.pos + 3000 < sizeof unpacked ? back.pos + 3000 : sizeof unpacked;
      if (ZSTD_isError(ZSTD_decompressStream(d, &back, &piece)))
        exit((printf("wrong: decompressStream\n"), 1));
    }
  }
  while (back.pos < in->size) {
    ZSTD_inBuffer nothing = {NULL, 0, 0};
    size_t before = back.pos;
    back.size = sizeof unpacked;
    ZSTD_decompressStream(d, &back, &nothing);
    if (back.pos == before)
      break;
  }
  came_back(in, back.pos, "a stream");
  // One bit changes the checksum, if nothing else.
  packed[out.pos / 2] ^= 4;
  check(ZSTD_isError(ZSTD_decompressDCtx(d, unpacked, sizeof unpacked, packed, out.pos)), "damage");
  ZSTD_freeDStream(d);
}

static void dictionaries(const struct input *in) {
  enum { SAMPLES = 400, EACH = 120 };
  static char dictionary[4000];
  size_t sizes[SAMPLES];
  for (int i = 0; i < SAMPLES; i++)
    sizes[i] = EACH;
  size_t size = ZDICT_trainFromBuffer(dictionary, sizeof dictionary, in->bytes, sizes, SAMPLES);
  check(!ZDICT_isError(size), "training");
  printf("dictionary: %zu, %08x\n", size, checksum(dictionary, size));
  ZSTD_CDict *cd = ZSTD_createCDict(dictionary, size, 5);
  ZSTD_DDict *dd = ZSTD_createDDict(dictionary, size);
  ZSTD_CCtx *c = ZSTD_createCCtx();
  ZSTD_DCtx *d = ZSTD_createDCtx();
  size_t with = 0, without = 0;
  for (int i = 0; i < SAMPLES; i += 20) {
    const unsigned char *sample = in->bytes + (size_t)i * EACH;
    without += ZSTD_compressCCtx(c, packed, sizeof packed, sample, EACH, 5);
    size_t n = ZSTD_compress_usingCDict(c, packed, sizeof packed, sample, EACH, cd);
    with += n;
    check(ZSTD_decompress_usingDDict(d, unpacked, sizeof unpacked, packed, n, dd) == EACH &&
              memcmp(unpacked, sample, EACH) == 0,
          "a dictionary");
  }
  printf("samples: %zu with it, %zu without\n", with, without);
  ZSTD_freeCDict(cd);
  ZSTD_freeDDict(dd);
  ZSTD_freeCCtx(c);
  ZSTD_freeDCtx(d);
}

static void parameters(const struct input *in) {
  ZSTD_CCtx *c = ZSTD_createCCtx();
  for (int strategy = ZSTD_fast; strategy <= ZSTD_btultra2; strategy++)
    for (int split = 0; split < 2; split++) {
      ZSTD_CCtx_reset(c, ZSTD_reset_session_and_parameters);
      ZSTD_CCtx_setParameter(c, ZSTD_c_strategy, strategy);
      ZSTD_CCtx_setParameter(c, ZSTD_c_windowLog, 14);
      ZSTD_CCtx_setParameter(c, ZSTD_c_minMatch, 3 + strategy % 4);
      ZSTD_CCtx_setParameter(c, ZSTD_c_targetCBlockSize, split ? 2000 : 0);
      ZSTD_CCtx_setParameter(c, ZSTD_c_literalCompressionMode, split ? ZSTD_ps_disable : 0);
      size_t n = ZSTD_compress2(c, packed, sizeof packed, in->bytes, in->size);
      printf("%s: strategy %d: %zu, %08x\n", in->name, strategy, n, checksum(packed, n));
      came_back(in, ZSTD_decompress(unpacked, sizeof unpacked, packed, n), "a strategy");
    }
  ZSTD_bounds level = ZSTD_cParam_getBounds(ZSTD_c_compressionLevel);
  printf("levels %d to %d; %s\n", level.lowerBound, level.upperBound,
         ZSTD_getErrorName(ZSTD_CCtx_setParameter(c, ZSTD_c_windowLog, 99)));
  ZSTD_freeCCtx(c);
}

int main(int argc, char **argv) {
  struct input inputs[INPUTS];
  make_inputs(inputs, argc > 1 ? argv[1] : "", 60000);
  printf("zstd %s\n", ZSTD_versionString());
  for (int i = 0; i < INPUTS; i++) {
    levels(&inputs[i]);
    for (int threads = 0; threads <= 2; threads++)
      streams(&inputs[i], threads, threads);
  }
  dictionaries(&inputs[0]);
  parameters(&inputs[0]);
  printf("%zu blocks are left, %d wrong\n", live, wrong);
  return wrong != 0 || live != 0;
}
