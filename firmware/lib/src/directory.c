#include "directory.h"

#include <string.h>

#include "files.h"
#include "thread.h"

// Without a slash at its end: the root is empty.
static struct {
  struct card_word lock;
  _Alignas(CARD_LINE) char path[PATH_SIZE];
} directory;

void __card_begin_directory(const char *path, size_t size) {
  if (size < PATH_SIZE && size > 1)
    memcpy(directory.path, path, size);
}

void __card_set_directory(const char *path) {
  card_lock(&directory.lock.word);
  strcpy(directory.path, path);
  card_unlock(&directory.lock.word);
}

size_t __card_copy_directory(char buffer[PATH_SIZE]) {
  card_lock(&directory.lock.word);
  strcpy(buffer, directory.path);
  card_unlock(&directory.lock.word);
  return strlen(buffer);
}

const char *__card_add_parts(char buffer[PATH_SIZE], size_t size, const char *path) {
  while (*path) {
    size_t part = strcspn(path, "/");
    if (part == 2 && path[0] == '.' && path[1] == '.') {
      while (size && buffer[--size] != '/')
        ;
    } else if (part && (part > 1 || *path != '.')) {
      if (size + 1 + part >= PATH_SIZE)
        return NULL;
      buffer[size++] = '/';
      memcpy(buffer + size, path, part);
      size += part;
    }
    path += part;
    // A slash at the end stays, since it says that the name is of a directory.
    if (*path == '/' && !path[1] && size && size + 1 < PATH_SIZE)
      buffer[size++] = '/';
    path += *path == '/';
  }
  if (!size)
    buffer[size++] = '/';
  buffer[size] = 0;
  return buffer;
}

const char *__card_full_path(const char *path, char buffer[PATH_SIZE]) {
  if (*path == '/' || !*path || !directory.path[0])
    return path;
  return __card_add_parts(buffer, __card_copy_directory(buffer), path);
}
