// Round trips through zlib: levels, strategies, formats, dictionaries, streams in small pieces,
// copies of streams in flight, gzip files, damaged data.
#include "zlib.h"
#include "input.h"

static unsigned char packed[1 << 20], unpacked[1 << 20];
static size_t live;

static voidpf allocate(voidpf user, uInt count, uInt size) {
  ++*(size_t *)user;
  return calloc(count, size);
}
static void release(voidpf user, voidpf block) {
  --*(size_t *)user;
  free(block);
}

static z_stream stream(void) {
  z_stream s;
  memset(&s, 0, sizeof s);
  s.zalloc = allocate;
  s.zfree = release;
  s.opaque = &live;
  return s;
}

static size_t pack(const struct input *in, int level, int bits, int strategy, unsigned piece) {
  z_stream s = stream();
  check(deflateInit2(&s, level, Z_DEFLATED, bits, 1 + level % 9, strategy) == Z_OK, "deflateInit2");
  size_t at = 0;
  s.next_out = packed;
  s.avail_out = sizeof packed;
  int status;
  do {
    uInt n = in->size - at < piece ? (uInt)(in->size - at) : piece;
    s.next_in = in->bytes + at;
    s.avail_in = n;
    at += n;
    int flush = at == in->size                     ? Z_FINISH
                : at / piece % 4 == 0              ? Z_SYNC_FLUSH
                : at / piece % 7 == 0 && level > 0 ? Z_FULL_FLUSH
                                                   : Z_NO_FLUSH;
    status = deflate(&s, flush);
    check(status == (flush == Z_FINISH ? Z_STREAM_END : Z_OK), "deflate");
  } while (at < in->size);
  size_t size = s.total_out;
  check(deflateEnd(&s) == Z_OK, "deflateEnd");
  return size;
}

static void unpack(const struct input *in, size_t size, int bits, unsigned piece) {
  z_stream s = stream();
  check(inflateInit2(&s, bits) == Z_OK, "inflateInit2");
  s.next_in = packed;
  s.next_out = unpacked;
  int status = Z_OK;
  while (status == Z_OK || status == Z_BUF_ERROR) {
    size_t left = size - (size_t)(s.next_in - packed);
    s.avail_in = left < piece ? (uInt)left : piece;
    s.avail_out = 3 * piece;
    status = inflate(&s, Z_NO_FLUSH);
    if (status == Z_BUF_ERROR && left == 0)
      break;
  }
  check(status == Z_STREAM_END && s.total_out == in->size &&
            memcmp(unpacked, in->bytes, in->size) == 0,
        "what comes back");
  inflateEnd(&s);
}

static void levels(const struct input *in) {
  for (int level = 0; level <= 9; level += level < 2 ? 1 : 2) {
    size_t size = pack(in, level, 15, Z_DEFAULT_STRATEGY, 4096);
    printf("%s: level %d: %zu, %08x\n", in->name, level, size, checksum(packed, size));
    unpack(in, size, 15, 1000);
  }
  for (int strategy = Z_FILTERED; strategy <= Z_FIXED; strategy++) {
    size_t size = pack(in, 6, -12, strategy, 1U << 20);
    printf("%s: strategy %d: %zu, %08x\n", in->name, strategy, size, checksum(packed, size));
    unpack(in, size, -12, 100000);
  }
  size_t size = pack(in, 6, 15 + 16, Z_DEFAULT_STRATEGY, 10000);
  unpack(in, size, 15 + 32, 77);
}

static void whole(const struct input *in) {
  uLongf size = compressBound((uLong)in->size), back = sizeof unpacked;
  check(compress2(packed, &size, in->bytes, (uLong)in->size, 7) == Z_OK, "compress2");
  uLong used = size;
  check(uncompress2(unpacked, &back, packed, &used) == Z_OK && back == in->size && used == size,
        "uncompress2");
  printf("%s: adler %08lx, crc %08lx\n", in->name, adler32(1, in->bytes, (uInt)in->size),
         crc32(0, in->bytes, (uInt)in->size));
  uLong half = (uLong)in->size / 2, a = crc32(0, in->bytes, (uInt)half),
        b = crc32(0, in->bytes + half, (uInt)(in->size - half));
  check(crc32_combine(a, b, (z_off_t)(in->size - half)) == crc32(0, in->bytes, (uInt)in->size),
        "crc32_combine");
  // A damaged byte is noticed, or gives other data, and never more than there is room for.
  unsigned noticed = 0;
  for (uLong at = 0; at < size; at += 1 + size / 60) {
    packed[at] ^= 0x10;
    back = sizeof unpacked;
    noticed += uncompress(unpacked, &back, packed, size) != Z_OK;
    packed[at] ^= 0x10;
  }
  printf("%s: %u damages noticed\n", in->name, noticed);
}

static void dictionary_and_copies(const struct input *in) {
  z_stream s = stream(), copy = stream();
  deflateInit(&s, 9);
  check(deflateSetDictionary(&s, in->bytes, 1000) == Z_OK, "deflateSetDictionary");
  s.next_in = in->bytes;
  s.avail_in = 30000;
  s.next_out = packed;
  s.avail_out = sizeof packed;
  deflate(&s, Z_NO_FLUSH);
  check(deflateCopy(&copy, &s) == Z_OK, "deflateCopy");
  check(deflateParams(&s, 1, Z_HUFFMAN_ONLY) == Z_OK, "deflateParams");
  s.avail_in = 10000;
  check(deflate(&s, Z_FINISH) == Z_STREAM_END, "the rest");
  printf("with a dictionary: %lu, %08x\n", s.total_out, checksum(packed, s.total_out));
  uLong size = s.total_out;
  deflateEnd(&s);
  copy.avail_in = 0;
  check(deflate(&copy, Z_FINISH) == Z_STREAM_END, "the copy");
  printf("its copy: %lu\n", copy.total_out);
  deflateEnd(&copy);

  // The copy wrote over the end of what the first one made: only the dictionary's request is sure.
  s = stream();
  inflateInit(&s);
  s.next_in = packed;
  s.avail_in = (uInt)size;
  s.next_out = unpacked;
  s.avail_out = 1000;
  check(inflate(&s, Z_NO_FLUSH) == Z_NEED_DICT, "the need of a dictionary");
  check(inflateSetDictionary(&s, in->bytes, 999) == Z_DATA_ERROR, "the wrong dictionary");
  check(inflateSetDictionary(&s, in->bytes, 1000) == Z_OK, "the dictionary");
  check(inflate(&s, Z_NO_FLUSH) == Z_OK && memcmp(unpacked, in->bytes, 1000) == 0, "the start");
  check(inflateCopy(&copy, &s) == Z_OK && inflateReset(&s) == Z_OK, "inflateCopy");
  inflateEnd(&s);
  inflateEnd(&copy);
}

struct source {
  const unsigned char *at;
  size_t left, out;
};
static unsigned take(void *user, z_const unsigned char **bytes) {
  struct source *from = (struct source *)user;
  unsigned n = from->left < 500 ? (unsigned)from->left : 500;
  *bytes = (z_const unsigned char *)from->at;
  from->at += n;
  from->left -= n;
  return n;
}
static int give(void *user, unsigned char *bytes, unsigned n) {
  struct source *from = (struct source *)user;
  memcpy(unpacked + from->out, bytes, n);
  from->out += n;
  return 0;
}

static void callbacks(const struct input *in) {
  size_t size = pack(in, 6, -15, Z_DEFAULT_STRATEGY, 1U << 20);
  struct source from = {packed, size, 0};
  static unsigned char window[32768];
  z_stream s = stream();
  inflateBackInit(&s, 15, window);
  check(inflateBack(&s, take, &from, give, &from) == Z_STREAM_END && from.out == in->size &&
            memcmp(unpacked, in->bytes, in->size) == 0,
        "inflateBack");
  inflateBackEnd(&s);
}

static void files(const struct input *in) {
  gzFile file = gzopen("work.gz", "wb6");
  gzbuffer(file, 4000);
  check(gzwrite(file, in->bytes, (unsigned)in->size) == (int)in->size, "gzwrite");
  check(gzprintf(file, "%s %d %5.2f\n", "formatted", 42, 3.14159) == 19, "gzprintf");
  gzputc(file, '!');
  gzputs(file, "line\nlast");
  check(gzclose(file) == Z_OK, "gzclose");
  file = gzopen("work.gz", "rb");
  check(gzread(file, unpacked, (unsigned)in->size) == (int)in->size &&
            memcmp(unpacked, in->bytes, in->size) == 0,
        "gzread");
  char line[100];
  gzgets(file, line, sizeof line);
  printf("gzip file: %s", line);
  check(gzgetc(file) == '!' && gzungetc('?', file) == '?', "gzungetc");
  gzgets(file, line, sizeof line);
  printf("%s", line);
  check(gzseek(file, 10, SEEK_SET) == 10 && gztell(file) == 10, "gzseek");
  check(gzgetc(file) == in->bytes[10] && !gzeof(file), "gzgetc");
  gzclose(file);
}

int main(int argc, char **argv) {
  struct input inputs[INPUTS];
  make_inputs(inputs, argc > 1 ? argv[1] : "", 60000);
  printf("zlib %s\n", zlibVersion());
  for (int i = 0; i < INPUTS; i++) {
    levels(&inputs[i]);
    whole(&inputs[i]);
    callbacks(&inputs[i]);
  }
  dictionary_and_copies(&inputs[0]);
  files(&inputs[0]);
  printf("%zu blocks are left, %d wrong\n", live, wrong);
  return wrong != 0 || live != 0;
}
