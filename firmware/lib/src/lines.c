// Lines of any length.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

// Room for one more byte and the 0 behind it.
static int grow(char **line, size_t *size, size_t used) {
  if (*line && used + 2 <= *size)
    return 0;
  size_t wanted = *line && *size >= 64 ? 2 * *size : 128;
  char *grown = realloc(*line, wanted);
  if (!grown)
    return -1;
  *line = grown;
  *size = wanted;
  return 0;
}

ssize_t getdelim(char **line, size_t *size, int end, FILE *stream) {
  if (!line || !size) {
    errno = EINVAL;
    return -1;
  }
  size_t used = 0;
  for (int byte = end + 1; byte != end;) {
    if (grow(line, size, used))
      return -1;
    byte = getc(stream);
    if (byte == EOF)
      break;
    (*line)[used++] = byte;
  }
  if (!used)
    return -1;
  (*line)[used] = 0;
  return used;
}

ssize_t getline(char **line, size_t *size, FILE *stream) {
  return getdelim(line, size, '\n', stream);
}
