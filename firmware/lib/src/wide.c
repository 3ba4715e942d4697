// Wide characters of streams and formats, which picolibc leaves out: as the bytes of its locale.
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <wchar.h>

#undef getwc
#undef putwc

wint_t fputwc(wchar_t letter, FILE *stream) {
  char bytes[MB_LEN_MAX];
  mbstate_t state = {0};
  size_t length = wcrtomb(bytes, letter, &state);
  if (length == (size_t)-1 || fwrite(bytes, 1, length, stream) != length)
    return WEOF;
  return letter;
}

wint_t putwc(wchar_t letter, FILE *stream) { return fputwc(letter, stream); }

wint_t fgetwc(FILE *stream) {
  mbstate_t state = {0};
  for (;;) {
    int c = getc(stream);
    if (c == EOF)
      return WEOF;
    char byte = c;
    wchar_t letter;
    size_t length = mbrtowc(&letter, &byte, 1, &state);
    if (length == (size_t)-1)
      return WEOF;
    if (length != (size_t)-2)
      return letter;
  }
}

wint_t getwc(FILE *stream) { return fgetwc(stream); }

// A stream has room for one byte.
wint_t ungetwc(wint_t letter, FILE *stream) {
  int byte = wctob(letter);
  return byte == EOF || ungetc(byte, stream) == EOF ? WEOF : letter;
}

// The bytes of a wide text, to be freed.
static char *bytes_of(const wchar_t *text) {
  size_t room = wcslen(text) * MB_LEN_MAX + 1;
  char *bytes = malloc(room);
  if (bytes && wcstombs(bytes, text, room) == (size_t)-1) {
    free(bytes);
    return NULL;
  }
  return bytes;
}

size_t wcsftime(wchar_t *restrict to, size_t size, const wchar_t *restrict format,
                const struct tm *restrict time) {
  size_t length = 0;
  char *narrow = bytes_of(format), *text = malloc(size * MB_LEN_MAX);
  if (narrow && text && strftime(text, size * MB_LEN_MAX, narrow, time))
    length = mbstowcs(to, text, size);
  free(narrow);
  free(text);
  // No room for the text and its end, or no text of the locale.
  return length < size ? length : 0;
}

// Formats of numbers and of texts of bytes; `%ls` is picolibc's.
int vswprintf(wchar_t *restrict to, size_t size, const wchar_t *restrict format, va_list values) {
  size_t length = size;
  char *narrow = bytes_of(format), *text = NULL;
  if (narrow && vasprintf(&text, narrow, values) >= 0)
    length = mbstowcs(to, text, size);
  free(narrow);
  free(text);
  return length < size ? (int)length : -1;
}

int swprintf(wchar_t *restrict to, size_t size, const wchar_t *restrict format, ...) {
  va_list values;
  va_start(values, format);
  int length = vswprintf(to, size, format, values);
  va_end(values);
  return length;
}
