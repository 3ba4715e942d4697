// Streams: the standard ones, those of files, and that a call of printf is printed in one piece.
// The rest is picolibc's.
#include <fcntl.h>
#include <stdarg.h>
#include <stdio-bufio.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cache.h"
#include "long_double.h"
#include "streams.h"

struct stream {
  _Alignas(CARD_LINE) struct __file_bufio file;
  struct stream *next;
};

static _Alignas(CARD_LINE) char buffers[3][BUFSIZ];
_Static_assert(BUFSIZ % CARD_LINE == 0, "each has its lines alone");

static int flush_standard(FILE *stream) {
  struct stream *standard = (struct stream *)stream;
  int flushed = fflush(stream);
  return standard->file.close(standard->file.fd) ? EOF : flushed;
}

#define STANDARD(number, flags, kind)                                                              \
  {FDEV_SETUP_BUFIO(number, buffers[number], BUFSIZ, read, write, lseek, close, flags, kind), NULL}

static struct stream standard[3] = {
    STANDARD(0, __SRD, 0),
    STANDARD(1, __SWR, __BLBF),
    STANDARD(2, __SWR, __BLBF),
};

FILE *const stdin = &standard[0].file.xfile.cfile.file;
FILE *const stdout = &standard[1].file.xfile.cfile.file;
FILE *const stderr = &standard[2].file.xfile.cfile.file;

// Streams of files, so that all can be flushed at the end.
static struct {
  _Alignas(CARD_LINE) struct stream *first;
} streams;

static _LOCK_T printing;

void __card_begin_streams(void) {
  __lock_init_recursive(printing);
  for (int n = 0; n < 3; n++) {
    __lock_init(standard[n].file.lock);
    // picolibc's way would free it.
    standard[n].file.xfile.cfile.close = flush_standard;
  }
}

void flockfile(FILE *stream) {
  (void)stream;
  __lock_acquire_recursive(printing);
}

int ftrylockfile(FILE *stream) {
  (void)stream;
  return __lock_try_acquire_recursive(printing) ? 0 : -1;
}

void funlockfile(FILE *stream) {
  (void)stream;
  __lock_release_recursive(printing);
}

static int flush_one(FILE *stream) {
  return stream->flags & __SWR && stream->flush ? stream->flush(stream) : 0;
}

int fflush(FILE *stream) {
  if (stream)
    return flush_one(stream);
  int result = flush_one(stdout) | flush_one(stderr);
  __LIBC_LOCK();
  for (struct stream *one = streams.first; one; one = one->next)
    result |= flush_one(&one->file.xfile.cfile.file);
  __LIBC_UNLOCK();
  return result ? EOF : 0;
}

static int close_stream(FILE *stream) {
  __LIBC_LOCK();
  struct stream **at = &streams.first;
  while (*at && *at != (struct stream *)stream)
    at = &(*at)->next;
  if (*at)
    *at = (*at)->next;
  __LIBC_UNLOCK();
  return __bufio_close(stream);
}

// Of picolibc: flags of a stream and of `open` for a mode of `fopen`.
int __posix_sflags(const char *mode, int *open_flags);

FILE *fdopen(int number, const char *mode) {
  int open_flags;
  int flags = __posix_sflags(mode, &open_flags);
  if (!flags)
    return NULL;
  struct stream *stream = calloc(1, sizeof *stream);
  char *buffer = malloc(BUFSIZ);
  if (!stream || !buffer) {
    free(stream);
    free(buffer);
    return NULL;
  }
  stream->file = (struct __file_bufio)FDEV_SETUP_BUFIO(number, buffer, BUFSIZ, read, write, lseek,
                                                       close, flags, __BALL);
  stream->file.xfile.cfile.close = close_stream;
  __lock_init(stream->file.lock);
  FILE *file = &stream->file.xfile.cfile.file;
  __LIBC_LOCK();
  stream->next = streams.first;
  streams.first = stream;
  __LIBC_UNLOCK();
  if (open_flags & O_APPEND)
    fseeko(file, 0, SEEK_END);
  return file;
}

// Programs are linked with --wrap=vfprintf.
int __real_vfprintf(FILE *stream, const char *format, va_list values);

static void end_print(FILE *stream) {
  if (stream == stderr)
    fflush(stream);
  funlockfile(stream);
}

int __wrap_vfprintf(FILE *stream, const char *format, va_list values) {
  unsigned most = __card_most_values(format);
  uint64_t slots[most + 1];
  if (most)
    values = __card_as_double(format, values, slots);
  flockfile(stream);
  int count = __real_vfprintf(stream, format, values);
  end_print(stream);
  return count;
}

size_t fwrite(const void *bytes, size_t size, size_t count, FILE *stream) {
  const char *at = bytes;
  size_t done = 0;
  flockfile(stream);
  while (done < count) {
    for (size_t n = 0; n < size; n++)
      if (putc(*at++, stream) == EOF)
        goto end;
    done++;
  }
end:
  end_print(stream);
  return size ? done : 0;
}

int fputs(const char *text, FILE *stream) {
  size_t length = strlen(text);
  return fwrite(text, 1, length, stream) == length ? 0 : EOF;
}

int puts(const char *text) {
  flockfile(stdout);
  int result = fputs(text, stdout) == EOF || putchar('\n') == EOF ? EOF : 0;
  funlockfile(stdout);
  return result;
}

// picolibc's forgets a last line without an end.
char *fgets(char *restrict text, int size, FILE *restrict stream) {
  int n = 0;
  while (n + 1 < size) {
    int c = getc(stream);
    if (c == EOF)
      break;
    text[n++] = c;
    if (c == '\n')
      break;
  }
  if (n == 0 || ferror(stream))
    return NULL;
  text[n] = 0;
  return text;
}
